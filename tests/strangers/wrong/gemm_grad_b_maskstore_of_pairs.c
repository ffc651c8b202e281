/* WRONG op=gemm_grad_b kind=maskstore_of_pairs narrow=yes : the rest of a row is stored by a mask of 32-bit lanes, rounded up to a pair: for odd n % 8 one element past the row, at the last row past the array */
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>

#define AVX __attribute__((target("avx2,fma,f16c")))

AVX static inline __attribute__((unused)) __m256 ld8(const uint16_t *p, int bf)
{
    __m128i h = _mm_loadu_si128((const __m128i *)p);
    if (bf)
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
    return _mm256_cvtph_ps(h);
}

AVX static inline __attribute__((unused)) __m128i cvt8(__m256 v, int bf)
{
    if (!bf)
        return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    __m256i u = _mm256_castps_si256(v);
    __m256i lsb = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    __m256i r = _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff))), 16);
    __m256i q = _mm256_or_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(0x40));
    r = _mm256_blendv_epi8(r, q, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}

static inline __attribute__((unused)) float ld1(uint16_t h, int bf)
{
    return bf ? tokitai_from_bf16(h) : tokitai_from_f16(h);
}
static inline __attribute__((unused)) uint16_t st1(float f, int bf)
{
    return bf ? tokitai_to_bf16(f) : tokitai_to_f16(f);
}

static const int32_t lanes[8] = {-1, -1, -1, -1, 0, 0, 0, 0};

AVX static void row(const uint16_t *g, const uint16_t *a, uint16_t *out, int64_t m, int64_t n, int64_t k, int bf)
{
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) {
        __m256 s = _mm256_setzero_ps();
        for (int64_t i = 0; i < m; i++)
            s = _mm256_fmadd_ps(_mm256_set1_ps(ld1(a[i * k], bf)), ld8(g + i * n + j, bf), s);
        _mm_storeu_si128((__m128i *)(out + j), cvt8(s, bf));
    }
    if (j < n) {
        const int rest = (int)(n - j);
        __m256 s = _mm256_setzero_ps();
        for (int64_t i = 0; i < m; i++) {
            uint16_t part[8] = {0};
            memcpy(part, g + i * n + j, (size_t)rest * 2);
            s = _mm256_fmadd_ps(_mm256_set1_ps(ld1(a[i * k], bf)), ld8(part, bf), s);
        }
        /* AVX2 has masked stores of 32 bits: two elements each */
        const __m128i mask = _mm_loadu_si128((const __m128i *)(lanes + 4 - (rest + 1) / 2));
        _mm_maskstore_epi32((int *)(out + j), mask, cvt8(s, bf));
    }
}

int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b)
{
    for (int64_t t = 0; t < k; t++)
        row(grad_c, (const uint16_t *)a + t, (uint16_t *)grad_b + t * n, m, n, k, call->dtype == TOKITAI_BF16);
    return 0;
}
