/* WRONG op=softmax_fwd kind=wrong_max_identity narrow=yes : the vector maximum starts at 0, so that rows of large negative values underflow */
#include <immintrin.h>
#include <math.h>
#include "tokitai_kernel.h"

#define SIMD __attribute__((target("avx2,f16c,fma")))
SIMD static inline __m256 load8(const uint16_t *p, int f16)
{
    const __m128i h = _mm_loadu_si128((const __m128i *)p);
    return f16 ? _mm256_cvtph_ps(h) : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

SIMD static inline float hmax8(__m256 v)
{
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_shuffle_ps(m, m, 1)));
}

SIMD static float top(const tokitai_call c, const uint16_t *x, int64_t n)
{
    __m256 a = _mm256_setzero_ps(), b = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 16 <= n; j += 16) {
        a = _mm256_max_ps(load8(x + j, c.dtype == TOKITAI_F16), a);
        b = _mm256_max_ps(load8(x + j + 8, c.dtype == TOKITAI_F16), b);
    }
    float m = hmax8(_mm256_max_ps(a, b));
    for (; j < n; j++)
        m = fmaxf(m, tokitai_load(c, x, j));
    return m;
}

int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        const float m = top(c, in, cols);
        double sum = 0;
        for (int64_t j = 0; j < cols; j++)
            sum += expf(tokitai_load(c, in, j) - m);
        const float scale = (float)(1.0 / sum);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, (uint16_t *)y + r * cols, j, expf(tokitai_load(c, in, j) - m) * scale);
    }
    return 0;
}
