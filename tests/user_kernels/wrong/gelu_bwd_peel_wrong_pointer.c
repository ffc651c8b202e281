/* WRONG op=gelu_bwd kind=peel_wrong_pointer narrow=yes expect=REFUTED : peels until x is at a multiple of 16 bytes and then uses aligned stores to grad_input: crashes where the two are not aligned alike (n >= 64) */
#include "avx2.h"
AVX2 static void some(const uint16_t *g, const uint16_t *x, uint16_t *o, int64_t m, int f16) {
    uint16_t a[8] = {0}, b[8] = {0}, c[8];
    memcpy(a, g, (size_t)m * 2);
    memcpy(b, x, (size_t)m * 2);
    _mm_storeu_si128((__m128i *)c, vpack(_mm256_mul_ps(load8(a, f16), vslope(load8(b, f16))), f16));
    memcpy(o, c, (size_t)m * 2);
}
AVX2 int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x,
                          void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    if (n >= 64) {
        const int64_t head = (int64_t)((0 - (uintptr_t)in) & 15) / 2;
        some(g, in, out, head, f16);
        for (i = head; i + 8 <= n; i += 8)
            _mm_store_si128((__m128i *)(out + i),
                            vpack(_mm256_mul_ps(load8(g + i, f16), vslope(load8(in + i, f16))), f16));
    }
    for (; i < n; i += 8) some(g + i, in + i, out + i, n - i < 8 ? n - i : 8, f16);
    return 0;
}
