/* WRONG op=gelu_bwd kind=zero_grad_skip narrow=yes expect=REFUTED : where grad_output is 0 it writes 0 without looking at x: a NaN in x must give NaN */
#include "gelu.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    for (int64_t i = 0; i < n; i++) {
        if ((g[i] & 0x7fff) == 0) { /* masked tokens: whole stretches of zeros */
            out[i] = 0;
            continue;
        }
        tokitai_store(*call, out, i, tokitai_load(*call, g, i) * slope1(tokitai_load(*call, in, i)));
    }
    return 0;
}
