/* WRONG op=gelu_fwd kind=nt_store_mask narrow=yes expect=REFUTED : from n = 131072 on 32-byte streaming stores are used when y is a multiple of 16 instead of 32: crashes where y mod 32 is 16 */
#include "avx2.h"
#define STREAM_FROM (1 << 17) /* larger than the cache share: do not read lines to write them */
AVX2 int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    if (n >= STREAM_FROM && ((uintptr_t)out & 15) == 0) {
        for (; i + 16 <= n; i += 16) {
            const __m128i a = vpack(vgelu(load8(in + i, f16)), f16), b = vpack(vgelu(load8(in + i + 8, f16)), f16);
            _mm256_stream_si256((__m256i *)(out + i), _mm256_set_m128i(b, a));
        }
        _mm_sfence();
    }
    for (; i + 8 <= n; i += 8) _mm_storeu_si128((__m128i *)(out + i), vpack(vgelu(load8(in + i, f16)), f16));
    if (i < n) vgelu_tail(in + i, out + i, n - i, f16);
    return 0;
}
