/* WRONG op=gemm kind=edge_mask narrow=yes expect=REFUTED : the lane mask for seven remaining columns has six lanes set, so with n % 8 == 7 the last column is never written */
#include "avx2.h"
#include "elements.h"
static const uint8_t lane_mask[8][8] = {
    {1, 1, 1, 1, 1, 1, 1, 1}, {1, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 0, 0, 0, 0, 0},
    {1, 1, 1, 1, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 1, 1, 0, 0},
};
/* four rows by eight columns; a is widened, panel is [k][8] */
AVX2 static void tile(const float *a, int64_t lda, int rows, const float *panel, int64_t k, float out[4][8]) {
    __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    const float *a1 = a + (rows > 1 ? lda : 0), *a2 = a + (rows > 2 ? 2 * lda : 0),
                *a3 = a + (rows > 3 ? 3 * lda : 0);
    for (int64_t t = 0; t < k; t++) {
        const __m256 v = _mm256_loadu_ps(panel + 8 * t);
        s0 = _mm256_fmadd_ps(_mm256_set1_ps(a[t]), v, s0);
        s1 = _mm256_fmadd_ps(_mm256_set1_ps(a1[t]), v, s1);
        s2 = _mm256_fmadd_ps(_mm256_set1_ps(a2[t]), v, s2);
        s3 = _mm256_fmadd_ps(_mm256_set1_ps(a3[t]), v, s3);
    }
    _mm256_storeu_ps(out[0], s0);
    _mm256_storeu_ps(out[1], s1);
    _mm256_storeu_ps(out[2], s2);
    _mm256_storeu_ps(out[3], s3);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    if (m == 0 || n == 0) return 0;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
    const int f16 = call->dtype == TOKITAI_F16;
    const uint16_t *pa = a, *pb = b;
    float *wide = malloc((size_t)(m * k + 8 * k + 8) * sizeof *wide);
    if (!wide) return 1;
    float *panel = wide + m * k;
    for (int64_t i = 0; i < m * k; i++) wide[i] = as_float(f16, pa[i]);
    for (int64_t j = 0; j < n; j += 8) {
        const int64_t cols = n - j < 8 ? n - j : 8;
        for (int64_t t = 0; t < k; t++)
            for (int64_t l = 0; l < 8; l++) panel[8 * t + l] = l < cols ? as_float(f16, pb[t * n + j + l]) : 0;
        const uint8_t *mask = lane_mask[cols & 7];
        for (int64_t i = 0; i < m; i += 4) {
            float out[4][8];
            const int rows = m - i < 4 ? (int)(m - i) : 4;
            tile(wide + i * k, k, rows, panel, k, out);
            for (int r = 0; r < rows; r++)
                for (int l = 0; l < 8; l++)
                    if (mask[l]) tokitai_store(*call, c, (i + r) * n + j + l, out[r][l]);
        }
    }
    free(wide);
    return 0;
}
