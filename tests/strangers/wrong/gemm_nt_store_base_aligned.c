/* WRONG op=gemm kind=nt_store_base_aligned narrow=yes : outputs of 2^18 elements or more whose base is 32-byte aligned use streaming stores, though rows of n % 16 != 0 are not aligned: fault */
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

AVX static void rows16(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m, int64_t n, int64_t k, int bf,
                       int stream)
{
    const int64_t wide = n & ~(int64_t)15;
    for (int64_t i = 0; i < m; i++) {
        int64_t j = 0;
        for (; j < wide; j += 16) {
            __m256 lo = _mm256_setzero_ps(), hi = _mm256_setzero_ps();
            for (int64_t t = 0; t < k; t++) {
                const __m256 x = _mm256_set1_ps(ld1(a[i * k + t], bf));
                lo = _mm256_fmadd_ps(x, ld8(b + t * n + j, bf), lo);
                hi = _mm256_fmadd_ps(x, ld8(b + t * n + j + 8, bf), hi);
            }
            const __m256i v = _mm256_set_m128i(cvt8(hi, bf), cvt8(lo, bf));
            if (stream)
                _mm256_stream_si256((__m256i *)(c + i * n + j), v);
            else
                _mm256_storeu_si256((__m256i *)(c + i * n + j), v);
        }
        for (; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++)
                s = __builtin_fmaf(ld1(a[i * k + t], bf), ld1(b[t * n + j], bf), s);
            c[i * n + j] = st1(s, bf);
        }
    }
    if (stream)
        _mm_sfence();
}

int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    /* past the caches: do not read c's lines for ownership */
    const int stream = m * n >= 1 << 18 && ((uintptr_t)c & 31) == 0;
    rows16(a, b, c, m, n, k, call->dtype == TOKITAI_BF16, stream);
    return 0;
}
