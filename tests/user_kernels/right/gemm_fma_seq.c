/* RIGHT op=gemm kind=fma_sequential expect=HELD : a row of fp32 accumulators, one fused multiply-add for each t in ascending order, compiled twice for FMA hardware */
#include "kernel.h"
#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_TWIN 1
#else
#define HAS_TWIN 0
#endif
static inline __attribute__((always_inline)) void update(float *acc, const float *brow, float a, int64_t n) {
    for (int64_t j = 0; j < n; j++) acc[j] = fmaf(a, brow[j], acc[j]);
}
static void update_plain(float *acc, const float *brow, float a, int64_t n) { update(acc, brow, a, n); }
#if HAS_TWIN
__attribute__((target("avx2,fma"))) static void update_fma(float *acc, const float *brow, float a, int64_t n) {
    update(acc, brow, a, n);
}
#endif
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    void (*step)(float *, const float *, float, int64_t) = update_plain;
#if HAS_TWIN
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) step = update_fma;
#endif
    const tokitai_call cl = *call;
    float *brow = malloc((size_t)(n + 1) * sizeof(float)), *acc = malloc((size_t)(n + 1) * 8 * sizeof(float));
    if (!brow || !acc) {
        free(brow);
        free(acc);
        return 1;
    }
    for (int64_t i0 = 0; i0 < m; i0 += 8) {
        const int64_t mr = m - i0 < 8 ? m - i0 : 8;
        for (int64_t q = 0; q < mr * n; q++) acc[q] = 0.0f;
        for (int64_t t = 0; t < k; t++) {
            for (int64_t j = 0; j < n; j++) brow[j] = tokitai_load(cl, b, t * n + j);
            for (int64_t i = 0; i < mr; i++) step(acc + i * n, brow, tokitai_load(cl, a, (i0 + i) * k + t), n);
        }
        for (int64_t q = 0; q < mr * n; q++) tokitai_store(cl, c, i0 * n + q, acc[q]);
    }
    free(brow);
    free(acc);
    return 0;
}
