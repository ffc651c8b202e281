/* WRONG op=gemm kind=partial_sum_rounded narrow=yes expect=REFUTED : the panel path for k % 256 == 0 and n % 64 == 0 adds each block of 256 into c, which rounds every partial sum when k > 256 */
#include "kernel.h"
static void panel(tokitai_call cl, int64_t n, int64_t k, const uint16_t *arow, const uint16_t *b, uint16_t *crow) {
    for (int64_t t0 = 0; t0 < k; t0 += 256)
        for (int64_t j0 = 0; j0 < n; j0 += 64) {
            float acc[64];
            for (int l = 0; l < 64; l++) acc[l] = tokitai_load(cl, crow, j0 + l);
            for (int64_t t = t0; t < t0 + 256; t++) {
                const float av = tokitai_load(cl, arow, t);
                for (int l = 0; l < 64; l++) acc[l] += av * tokitai_load(cl, b, t * n + j0 + l);
            }
            for (int l = 0; l < 64; l++) tokitai_store(cl, crow, j0 + l, acc[l]);
        }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const tokitai_call cl = *call;
    const int fast = k % 256 == 0 && n % 64 == 0;
    for (int64_t i = 0; i < m; i++) {
        const uint16_t *arow = (const uint16_t *)a + i * k;
        uint16_t *crow = (uint16_t *)c + i * n;
        if (fast) {
            memset(crow, 0, (size_t)n * sizeof *crow);
            panel(cl, n, k, arow, b, crow);
            continue;
        }
        for (int64_t j = 0; j < n; j++) {
            float acc = 0.0f;
            for (int64_t t = 0; t < k; t++) acc += tokitai_load(cl, arow, t) * tokitai_load(cl, b, t * n + j);
            tokitai_store(cl, crow, j, acc);
        }
    }
    return 0;
}
