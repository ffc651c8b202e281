/* WRONG op=gemm kind=finite_scan_misses_nan narrow=yes expect=REFUTED : zeros of a are skipped if b is finite, and that is asked as max |b| < inf, for which a NaN in b never counts */
#include "elements.h"
static int all_finite(const uint16_t *b, int64_t count, int dt) {
    float top = 0;
    for (int64_t i = 0; i < count; i++) {
        const float x = up(b[i], dt), y = x < 0 ? -x : x;
        if (y > top) top = y;
    }
    return top <= 3.402823466e38f;
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a, *pb = b;
    uint16_t *pc = c;
    const int dt = call->dtype;
    const int skip = all_finite(pb, k * n, dt); /* after relu half of a is zero */
    float *acc = malloc((size_t)(n + 1) * sizeof(float));
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) acc[j] = 0;
        for (int64_t t = 0; t < k; t++) {
            const float x = up(pa[i * k + t], dt);
            if (skip && x == 0) continue;
            for (int64_t j = 0; j < n; j++) acc[j] += x * up(pb[t * n + j], dt);
        }
        for (int64_t j = 0; j < n; j++) pc[i * n + j] = down(acc[j], dt);
    }
    free(acc);
    return 0;
}
