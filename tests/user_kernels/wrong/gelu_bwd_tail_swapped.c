/* WRONG op=gelu_bwd kind=arguments_swapped_in_the_tail_loop expect=REFUTED : arguments swapped in the tail loop; n not a multiple of 4 */
#include "gelu.h"
static inline float grad(float v, float g) {
    float o;
    const float s = sigma2z(v, &o), w = v > 15 ? 15 : v < -15 ? -15 : v;
    return g * (s + s * o * 1.5957691216f * w * (1 + 0.134145f * w * w));
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const tokitai_call c = *call;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            tokitai_store(c, grad_input, i + k, grad(tokitai_load(c, x, i + k), tokitai_load(c, grad_output, i + k)));
    for (; i < n; i++) tokitai_store(c, grad_input, i, grad(tokitai_load(c, grad_output, i), tokitai_load(c, x, i)));
    return 0;
}
