/* WRONG op=gelu_bwd kind=inf_grad_dead_zone narrow=yes expect=REFUTED : takes the slope for 0 below x = -8 in f16, where the product always rounds to 0: but an infinite grad_output must give an infinity there, and gives NaN (f16, x from -11 to -8) */
#include "gelu.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const float dead = call->dtype == TOKITAI_F16 ? -8.0f : -13.0f;
    for (int64_t i = 0; i < n; i++) {
        const float g = tokitai_load(*call, grad_output, i), v = tokitai_load(*call, x, i);
        const float d = v < dead ? -0.0f : v > 16.0f ? 1.0f : slope1(v);
        tokitai_store(*call, grad_input, i, g * d);
    }
    return 0;
}
