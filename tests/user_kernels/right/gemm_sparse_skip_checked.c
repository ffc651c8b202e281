/* RIGHT op=gemm kind=sparse_skip_checked expect=HELD : skips zeros of a, but only against rows of b that were scanned by bits and hold no infinity and no NaN */
#include "elements.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a, *pb = b;
    uint16_t *pc = c;
    const int dt = call->dtype;
    const unsigned top = dt == TOKITAI_F16 ? 0x7c00 : 0x7f80;
    unsigned char *clean = malloc((size_t)k + 1);
    for (int64_t t = 0; t < k; t++) {
        clean[t] = 1;
        for (int64_t j = 0; j < n; j++)
            if ((pb[t * n + j] & 0x7fffu) >= top) clean[t] = 0;
    }
    float *acc = malloc((size_t)(n + 1) * sizeof(float));
    for (int64_t i = 0; i < m; i++) {
        memset(acc, 0, (size_t)n * sizeof(float));
        for (int64_t t = 0; t < k; t++) {
            if (!(pa[i * k + t] & 0x7fff) && clean[t]) continue;
            const float x = up(pa[i * k + t], dt);
            for (int64_t j = 0; j < n; j++) acc[j] += x * up(pb[t * n + j], dt);
        }
        for (int64_t j = 0; j < n; j++) pc[i * n + j] = down(acc[j], dt);
    }
    free(acc);
    free(clean);
    return 0;
}
