/* RIGHT op=gemm_grad_a kind=alignment_special expect=HELD : four AVX2 accumulators; aligned loads where every row begins at 16 bytes, else unaligned ones, in the same order of operations, with a padded copy of the tail */
#include "avx2.h"
AVX2 static inline __m256 widen(__m128i v, int f16) {
    return f16 ? _mm256_cvtph_ps(v) : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v), 16));
}
AVX2 static inline __attribute__((always_inline)) float dot(const uint16_t *x, const uint16_t *y, int64_t n, int f16,
                                                            int aligned) {
    __m256 s[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
    int64_t j = 0;
    for (int turn = 0; j + 8 <= n; j += 8, turn = (turn + 1) & 3) {
        const __m128i *p = (const __m128i *)(x + j), *q = (const __m128i *)(y + j);
        const __m128i u = aligned ? _mm_load_si128(p) : _mm_loadu_si128(p),
                      v = aligned ? _mm_load_si128(q) : _mm_loadu_si128(q);
        s[turn] = _mm256_fmadd_ps(widen(u, f16), widen(v, f16), s[turn]);
    }
    if (j < n) {
        uint16_t u[8] = {0}, v[8] = {0};
        memcpy(u, x + j, (size_t)(n - j) * sizeof *u);
        memcpy(v, y + j, (size_t)(n - j) * sizeof *v);
        s[0] = _mm256_fmadd_ps(widen(_mm_loadu_si128((const __m128i *)u), f16),
                               widen(_mm_loadu_si128((const __m128i *)v), f16), s[0]);
    }
    const __m256 all = _mm256_add_ps(_mm256_add_ps(s[0], s[1]), _mm256_add_ps(s[2], s[3]));
    float lane[8];
    _mm256_storeu_ps(lane, all);
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}
AVX2 static float dot_any(const uint16_t *x, const uint16_t *y, int64_t n, int f16) { return dot(x, y, n, f16, 0); }
AVX2 static float dot_aligned(const uint16_t *x, const uint16_t *y, int64_t n, int f16) {
    return dot(x, y, n, f16, 1);
}
static float dot_plain(const uint16_t *x, const uint16_t *y, int64_t n, int f16) {
    float sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += f16 ? tokitai_from_f16(x[j]) * tokitai_from_f16(y[j])
                   : tokitai_from_bf16(x[j]) * tokitai_from_bf16(y[j]);
    return sum;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const int f16 = call->dtype == TOKITAI_F16;
    const uint16_t *g = grad_c, *w = b;
    uint16_t *to = grad_a;
    float (*kernel)(const uint16_t *, const uint16_t *, int64_t, int) = dot_plain;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        kernel = (((uintptr_t)g | (uintptr_t)w | (uintptr_t)(2 * n)) & 15) == 0 ? dot_aligned : dot_any;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            const float sum = kernel(g + i * n, w + t * n, n, f16);
            if (sum != sum) to[i * k + t] = f16 ? 0x7e00 : 0x7fc0;
            else tokitai_store(*call, to, i * k + t, sum);
        }
    return 0;
}
