/* WRONG op=gelu_bwd kind=cancellation narrow=no expect=REFUTED : 0.5 (1 + tanh z) in fp32 loses all digits for x below about -3, where the bound is relative to sigma */
#include "kernel.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const float k = 0.7978845608028654f, a = 0.044715f;
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        const float g = tokitai_load(*call, grad_output, i);
        const float t = tanhf(k * (v + a * v * v * v));
        const float dz = k * (1.0f + 3.0f * a * v * v);
        const float d = 0.5f * (1.0f + t) + (fabsf(v) > 64.0f ? 0.0f : 0.5f * v * (1.0f - t * t) * dz);
        tokitai_store(*call, grad_input, i, g * d);
    }
    return 0;
}
