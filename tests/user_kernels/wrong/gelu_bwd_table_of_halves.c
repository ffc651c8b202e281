/* WRONG op=gelu_bwd kind=double_rounding expect=REFUTED : double rounding, the derivative comes from a table of 16-bit numbers and is rounded again after the product */
#include <pthread.h>
#include "kernel.h"
static uint16_t table[2][65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void build(void) {
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 65536; i++) {
            double v = d ? tokitai_from_bf16(i) : tokitai_from_f16(i);
            if (v > 40) v = 40;
            if (v < -40) v = -40;
            const double t = 1.5957691216057308 * (v + 0.044715 * v * v * v), s = 1 / (1 + exp(-t)),
                         q = 1 / (1 + exp(t));
            const float r = (float)(s + s * q * 1.5957691216057308 * v * (1 + 0.134145 * v * v));
            table[d][i] = d ? tokitai_to_bf16(r) : tokitai_to_f16(r);
        }
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    pthread_once(&once, build);
    const int d = call->dtype == TOKITAI_BF16;
    for (int64_t i = 0; i < n; i++)
        tokitai_store(*call, grad_input, i,
                      tokitai_load(*call, grad_output, i) * tokitai_load(*call, table[d], ((const uint16_t *)x)[i]));
    return 0;
}
