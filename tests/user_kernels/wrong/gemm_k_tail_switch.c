/* WRONG op=gemm kind=tail_switch_break narrow=yes expect=REFUTED : the unrolled loop's remainder of three breaks out after one product, wrong only for k % 4 == 3 */
#include "kernel.h"
static float dot(tokitai_call c, const uint16_t *a, const uint16_t *b, int64_t n, int64_t k) {
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    int64_t t = 0;
    for (; t + 4 <= k; t += 4) {
        s0 += tokitai_load(c, a, t) * tokitai_load(c, b, t * n);
        s1 += tokitai_load(c, a, t + 1) * tokitai_load(c, b, (t + 1) * n);
        s2 += tokitai_load(c, a, t + 2) * tokitai_load(c, b, (t + 2) * n);
        s3 += tokitai_load(c, a, t + 3) * tokitai_load(c, b, (t + 3) * n);
    }
    switch (k & 3) {
    case 3: s2 += tokitai_load(c, a, t + 2) * tokitai_load(c, b, (t + 2) * n); break;
    case 2:
        s1 += tokitai_load(c, a, t + 1) * tokitai_load(c, b, (t + 1) * n);
        /* fall through */
    case 1: s0 += tokitai_load(c, a, t) * tokitai_load(c, b, t * n); break;
    default: break;
    }
    return (s0 + s1) + (s2 + s3);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            tokitai_store(*call, c, i * n + j,
                          dot(*call, (const uint16_t *)a + i * k, (const uint16_t *)b + j, n, k));
    return 0;
}
