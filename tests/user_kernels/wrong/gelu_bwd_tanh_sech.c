/* WRONG op=gelu_bwd kind=cancellation_in_1_t_and_1_t_t expect=REFUTED : cancellation in 1 + t and 1 - t t; x below about -2 */
#include "kernel.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    for (int64_t i = 0; i < n; i++) {
        float v = tokitai_load(*call, x, i), g = tokitai_load(*call, grad_output, i);
        if (v > 20) v = 20;
        if (v < -20) v = -20;
        const float t = tanhf(0.7978845608f * (v + 0.044715f * v * v * v));
        const float dz = 0.7978845608f * (1 + 0.134145f * v * v);
        tokitai_store(*call, grad_input, i, g * (0.5f * (1 + t) + 0.5f * v * (1 - t * t) * dz));
    }
    return 0;
}
