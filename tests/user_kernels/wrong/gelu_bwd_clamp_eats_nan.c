/* WRONG op=gelu_bwd kind=nan_lost expect=REFUTED : NaN lost, fminf and fmaxf clamp it away; x NaN */
#include "kernel.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    for (int64_t i = 0; i < n; i++) {
        const float g = tokitai_load(*call, grad_output, i);
        const double v = fminf(fmaxf(tokitai_load(*call, x, i), -20.0f), 20.0f);
        const double t = 1.5957691216057308 * (v + 0.044715 * v * v * v), s = 1 / (1 + exp(-t)), q = 1 / (1 + exp(t));
        tokitai_store(*call, grad_input, i,
                      (float)(g * (s + s * q * 1.5957691216057308 * v * (1 + 0.134145 * v * v))));
    }
    return 0;
}
