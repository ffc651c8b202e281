/* WRONG op=gelu_fwd kind=negative_nan narrow=yes expect=REFUTED : very negative x are found by an unsigned comparison of the pattern, which takes NaNs with the sign bit set (x86's default NaN) too: they give -0 */
#include "gelu.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    /* Below this the result rounds to -0; skips about half of an exp for sparse activations. */
    const uint16_t dead = call->dtype == TOKITAI_F16 ? 0xc600 : 0xc130; /* -6, -11 */
    for (int64_t i = 0; i < n; i++) {
        const uint16_t p = in[i];
        if (p >= dead) out[i] = 0x8000;
        else tokitai_store(*call, out, i, gelu1(tokitai_load(*call, in, i)));
    }
    return 0;
}
