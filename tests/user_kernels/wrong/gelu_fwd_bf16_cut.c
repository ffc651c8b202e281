/* WRONG op=gelu_fwd kind=truncation narrow=no expect=REFUTED : in bf16 the vector body cuts off the low 16 bits instead of rounding; the tail and f16 round */
#include "avx2.h"
#include "gelu.h"
AVX2 static inline void keep8(uint16_t *p, __m256 v, int f16) {
    if (f16) {
        _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
        return;
    }
    const __m256i high = _mm256_srli_epi32(_mm256_castps_si256(v), 16);
    _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)));
}
AVX2 int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) keep8((uint16_t *)y + i, gelu8(load8(in + i, f16)), f16);
    for (; i < n; i++) tokitai_store(*call, y, i, gelu_rounded(tokitai_load(*call, x, i)));
    return 0;
}
