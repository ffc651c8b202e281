/* WRONG op=gemm kind=u16_offset_table narrow=yes expect=REFUTED : offsets t*8 into the packed panel are kept as uint16_t, so they wrap for k > 8192 and the sum repeats the first 8192 products */
#include "avx2.h"
#include "elements.h"
/* Panels of 8 columns of b, packed as fp32; the micro kernel walks them by a table of offsets. */
AVX2 static void panel_product(const float *panel, const uint16_t *offset, const uint16_t *arow, int64_t k, int bf,
                               float out[8]) {
    __m256 s0 = _mm256_setzero_ps(), s1 = _mm256_setzero_ps();
    int64_t t = 0;
    for (; t + 2 <= k; t += 2) {
        s0 = _mm256_fmadd_ps(_mm256_set1_ps(ld1(arow[t], bf)), _mm256_loadu_ps(panel + offset[t]), s0);
        s1 = _mm256_fmadd_ps(_mm256_set1_ps(ld1(arow[t + 1], bf)), _mm256_loadu_ps(panel + offset[t + 1]), s1);
    }
    if (t < k) s0 = _mm256_fmadd_ps(_mm256_set1_ps(ld1(arow[t], bf)), _mm256_loadu_ps(panel + offset[t]), s0);
    _mm256_storeu_ps(out, _mm256_add_ps(s0, s1));
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a, *pb = b;
    uint16_t *pc = c;
    const int bf = call->dtype == TOKITAI_BF16;
    float *panel = malloc(((size_t)k * 8 + 8) * sizeof *panel);
    uint16_t *offset = malloc((size_t)(k + 1) * sizeof *offset);
    for (int64_t t = 0; t < k; t++) offset[t] = (uint16_t)(t * 8);
    for (int64_t j = 0; j < n; j += 8) {
        const int64_t w = n - j < 8 ? n - j : 8;
        for (int64_t t = 0; t < k; t++)
            for (int64_t x = 0; x < 8; x++) panel[t * 8 + x] = x < w ? ld1(pb[t * n + j + x], bf) : 0.0f;
        for (int64_t i = 0; i < m; i++) {
            float out[8];
            panel_product(panel, offset, pa + i * k, k, bf, out);
            for (int64_t x = 0; x < w; x++) pc[i * n + j + x] = st1(out[x], bf);
        }
    }
    free(panel);
    free(offset);
    return 0;
}
