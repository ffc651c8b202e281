/* WRONG op=gelu_fwd kind=dropped_tail narrow=no expect=REFUTED : the loop is unrolled to 32 elements but the tail begins at the last multiple of 8, so up to 24 elements stay unwritten */
#include "avx2.h"
#include "gelu.h"
AVX2 int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    const int f16 = call->dtype == TOKITAI_F16;
    for (int64_t i = 0; i + 32 <= n; i += 32) {
        const __m256 a = gelu8(load8(in + i, f16)), b = gelu8(load8(in + i + 8, f16));
        const __m256 c = gelu8(load8(in + i + 16, f16)), d = gelu8(load8(in + i + 24, f16));
        store8(out + i, a, f16);
        store8(out + i + 8, b, f16);
        store8(out + i + 16, c, f16);
        store8(out + i + 24, d, f16);
    }
    for (int64_t i = n & ~(int64_t)7; i < n; i++) tokitai_store(*call, y, i, gelu_rounded(tokitai_load(*call, x, i)));
    return 0;
}
