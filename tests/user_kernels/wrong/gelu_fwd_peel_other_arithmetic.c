/* WRONG op=gelu_fwd kind=peel_other_arithmetic narrow=yes expect=HELD : elements before the first 32-byte boundary of y and after the last go through expf and the others through a polynomial: both are accurate, but a few inputs give other bits at another address (REPEAT) */
#include "avx2.h"
#include "gelu.h"
AVX2 int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    while (i < n && ((uintptr_t)(out + i) & 31)) { /* to a boundary, so that stores do not split lines */
        tokitai_store(*call, out, i, gelu1(tokitai_load(*call, in, i)));
        i++;
    }
    for (; i + 16 <= n; i += 16) {
        const __m128i a = vpack(vgelu(load8(in + i, f16)), f16), b = vpack(vgelu(load8(in + i + 8, f16)), f16);
        _mm256_store_si256((__m256i *)(out + i), _mm256_set_m128i(b, a));
    }
    for (; i < n; i++) tokitai_store(*call, out, i, gelu1(tokitai_load(*call, in, i)));
    return 0;
}
