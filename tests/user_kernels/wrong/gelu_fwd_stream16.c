/* WRONG op=gelu_fwd kind=alignment_fault narrow=yes expect=REFUTED : the streaming path is taken when x and y agree modulo 16, peels x to 32 and faults where y is then aligned to 16 only */
#include "avx2.h"
AVX2 static void plain(const uint16_t *in, uint16_t *out, int64_t n, int f16) {
    for (int64_t i = 0; i < n; i++) {
        uint16_t pad[8] = {in[i]};
        store8(pad, gelu8(load8(pad, f16)), f16);
        out[i] = pad[0];
    }
}
AVX2 int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    if (n >= 64 && (((uintptr_t)x ^ (uintptr_t)y) & 15) == 0) {
        i = (int64_t)((32 - ((uintptr_t)x & 31)) & 31) / 2;
        plain(in, out, i, f16);
        for (; i + 16 <= n; i += 16) {
            const __m128i a = pack8(gelu8(load8(in + i, f16)), f16), b = pack8(gelu8(load8(in + i + 8, f16)), f16);
            _mm256_stream_si256((__m256i *)(out + i), _mm256_set_m128i(b, a));
        }
        _mm_sfence();
    }
    for (; i + 8 <= n; i += 8) store8(out + i, gelu8(load8(in + i, f16)), f16);
    plain(in + i, out + i, n - i, f16);
    return 0;
}
