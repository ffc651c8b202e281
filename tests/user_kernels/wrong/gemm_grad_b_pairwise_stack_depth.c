/* WRONG op=gemm_grad_b kind=pairwise_stack_depth narrow=yes expect=REFUTED : pairwise sums of blocks of 64 rows on a stack of 8 levels: where the top one is taken it is written over, for m > 64 * 255 */
#include "elements.h"
enum { DEPTH = 8, ROWS = 64, W = 32 };
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const uint16_t *g = grad_c, *pa = a;
    uint16_t *out = grad_b;
    const int dt = call->dtype;
    float level[DEPTH][W];
    for (int64_t t = 0; t < k; t++)
        for (int64_t j0 = 0; j0 < n; j0 += W) {
            const int w = n - j0 < W ? (int)(n - j0) : W;
            unsigned taken = 0; /* a bit for each level, as in a binary counter */
            for (int64_t i0 = 0; i0 < m; i0 += ROWS) {
                const int64_t i1 = m - i0 < ROWS ? m : i0 + ROWS;
                float s[W] = {0};
                for (int64_t i = i0; i < i1; i++) {
                    const float x = up(pa[i * k + t], dt);
                    for (int j = 0; j < w; j++) s[j] += x * up(g[i * n + j0 + j], dt);
                }
                int l = 0;
                for (; l < DEPTH - 1 && taken >> l & 1; l++) {
                    for (int j = 0; j < w; j++) s[j] += level[l][j];
                    taken &= ~(1u << l);
                }
                memcpy(level[l], s, sizeof s);
                taken |= 1u << l;
            }
            float sum[W] = {0};
            for (int l = 0; l < DEPTH; l++)
                if (taken >> l & 1)
                    for (int j = 0; j < w; j++) sum[j] += level[l][j];
            for (int j = 0; j < w; j++) out[t * n + j0 + j] = down(sum[j], dt);
        }
    return 0;
}
