/* WRONG op=gelu_bwd kind=derivative_with_a_where_3_a_belongs expect=REFUTED : derivative with a where 3 a belongs; everywhere but near 0 */
#include "gelu.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i), g = tokitai_load(*call, grad_output, i);
        float o;
        const float s = sigma2z(v, &o), w = v > 15 ? 15 : v < -15 ? -15 : v;
        tokitai_store(*call, grad_input, i, g * (s + s * o * 1.5957691216f * w * (1 + 0.044715f * w * w)));
    }
    return 0;
}
