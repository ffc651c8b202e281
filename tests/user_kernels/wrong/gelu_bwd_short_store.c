/* WRONG op=gelu_bwd kind=write_past_end narrow=yes expect=REFUTED : with fewer than 8 elements a whole vector of 8 is stored to the output */
#include "avx2.h"
AVX2 int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x,
                          void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    const int f16 = call->dtype == TOKITAI_F16;
    if (n <= 0) return 0;
    if (n < 8) {
        uint16_t a[8] = {0}, b[8] = {0};
        memcpy(a, g, (size_t)n * 2);
        memcpy(b, in, (size_t)n * 2);
        store8(out, bwd8(load8(a, f16), load8(b, f16)), f16);
        return 0;
    }
    for (int64_t i = 0; i + 8 <= n; i += 8) store8(out + i, bwd8(load8(g + i, f16), load8(in + i, f16)), f16);
    store8(out + n - 8, bwd8(load8(g + n - 8, f16), load8(in + n - 8, f16)), f16); /* may overlap */
    return 0;
}
