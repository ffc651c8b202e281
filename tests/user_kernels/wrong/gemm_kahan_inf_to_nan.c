/* WRONG op=gemm kind=kahan_inf_to_nan narrow=yes expect=REFUTED : the compensation is inf - inf once a product is infinite, so that an infinite result becomes NaN */
#include "elements.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a, *pb = b;
    uint16_t *pc = c;
    const int dt = call->dtype;
    float *sum = malloc((size_t)(2 * n + 1) * sizeof(float)), *comp = sum + n;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) sum[j] = comp[j] = 0;
        for (int64_t t = 0; t < k; t++) {
            const float x = up(pa[i * k + t], dt);
            for (int64_t j = 0; j < n; j++) { /* Kahan */
                const float y = x * up(pb[t * n + j], dt) - comp[j];
                const float s = sum[j] + y;
                comp[j] = (s - sum[j]) - y;
                sum[j] = s;
            }
        }
        for (int64_t j = 0; j < n; j++) pc[i * n + j] = down(sum[j], dt);
    }
    free(sum);
    return 0;
}
