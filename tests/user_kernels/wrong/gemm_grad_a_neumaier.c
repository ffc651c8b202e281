/* WRONG op=gemm_grad_a kind=compensation_nan_on_inf narrow=yes expect=REFUTED : the compensation of an infinite partial sum is inf - inf, so that a row with infinities of one sign gives NaN instead of that infinity */
#include "kernel.h"
static float compensated_dot(tokitai_call c, const uint16_t *g, const uint16_t *b, int64_t n) {
    float sum = 0.0f, low = 0.0f;
    for (int64_t j = 0; j < n; j++) {
        const float p = tokitai_load(c, g, j) * tokitai_load(c, b, j);
        const float next = sum + p;
        if (fabsf(sum) >= fabsf(p)) low += (sum - next) + p;
        else low += (p - next) + sum;
        sum = next;
    }
    return sum + low;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            tokitai_store(*call, grad_a, i * k + t,
                          compensated_dot(*call, (const uint16_t *)grad_c + i * n, (const uint16_t *)b + t * n, n));
    return 0;
}
