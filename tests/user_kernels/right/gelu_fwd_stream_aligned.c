/* RIGHT op=gelu_fwd kind=alignment_paths expect=HELD : peels to a 32-byte boundary of the output and streams, the same vector arithmetic on every path */
#include "avx2.h"
AVX2 static void some(const uint16_t *in, uint16_t *out, int64_t n, int f16) {
    for (int64_t i = 0; i < n; i += 8) {
        uint16_t pad[8] = {0};
        const size_t bytes = (size_t)(n - i < 8 ? n - i : 8) * 2;
        memcpy(pad, in + i, bytes);
        store8(pad, gelu8(load8(pad, f16)), f16);
        memcpy(out + i, pad, bytes);
    }
}
AVX2 int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    const int f16 = call->dtype == TOKITAI_F16;
    if (n < 64) {
        some(in, out, n, f16);
        return 0;
    }
    int64_t i = (int64_t)((32 - ((uintptr_t)y & 31)) & 31) / 2;
    some(in, out, i, f16);
    for (; i + 16 <= n; i += 16) {
        const __m128i a = pack8(gelu8(load8(in + i, f16)), f16), b = pack8(gelu8(load8(in + i + 8, f16)), f16);
        _mm256_stream_si256((__m256i *)(out + i), _mm256_set_m128i(b, a));
    }
    _mm_sfence();
    some(in + i, out + i, n - i, f16);
    return 0;
}
