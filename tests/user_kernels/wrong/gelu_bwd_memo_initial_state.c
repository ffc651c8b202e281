/* WRONG op=gelu_bwd kind=memo_initial_state narrow=yes expect=REFUTED : keeps the slope of the last x, and begins as if +0 had been seen with slope 0: wrong where x begins with +0 */
#include "gelu.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t *in = x;
    uint16_t last = 0; /* padded batches have long runs of one value */
    float slope = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        if (in[i] != last) {
            last = in[i];
            slope = slope1(tokitai_load(*call, in, i));
        }
        tokitai_store(*call, grad_input, i, tokitai_load(*call, grad_output, i) * slope);
    }
    return 0;
}
