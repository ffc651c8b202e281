/* WRONG op=gelu_bwd kind=reads_output narrow=no expect=REFUTED : the scalar tail adds to what stands in grad_input instead of replacing it, where n is not a multiple of 8 */
#include "avx2.h"
#include "gelu.h"
AVX2 int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x,
                          void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) store8((uint16_t *)grad_input + i, bwd8(load8(g + i, f16), load8(in + i, f16)), f16);
    for (; i < n; i++) {
        const float sum = tokitai_load(*call, grad_input, i) +
                          tokitai_load(*call, g, i) * dgelu(tokitai_load(*call, x, i));
        tokitai_store(*call, grad_input, i, sum);
    }
    return 0;
}
