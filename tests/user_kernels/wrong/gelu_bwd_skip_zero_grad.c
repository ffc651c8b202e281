/* WRONG op=gelu_bwd kind=zero_skip_loses_nan narrow=yes expect=REFUTED : a zero grad_output is answered by zero without looking at x, which may be NaN */
#include "gelu.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t *g = grad_output;
    uint16_t *out = grad_input;
    for (int64_t i = 0; i < n; i++) {
        if ((g[i] & 0x7fff) == 0) {
            out[i] = g[i]; /* padding tokens: nothing to do */
            continue;
        }
        tokitai_store(*call, out, i, (float)(tokitai_load(*call, g, i) * slope_in_double(tokitai_load(*call, x, i))));
    }
    return 0;
}
