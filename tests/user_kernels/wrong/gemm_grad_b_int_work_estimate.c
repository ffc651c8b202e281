/* WRONG op=gemm_grad_b kind=int_work_estimate narrow=yes expect=HELD : the work m * n * k is estimated in 32 bits: products of sizes that are a few modulo 2^32, such as 2^32 itself, take the path for tiny cases, whose buffer on the stack overruns */
#include "elements.h"
enum { TINY = 4096 };
/* No product of sizes is above TINY, so that neither a nor a row of sums is. */
static void tiny(const uint16_t *g, const uint16_t *a, uint16_t *out, int64_t m, int64_t n, int64_t k, int dt) {
    float wa[TINY];
    for (int64_t e = 0; e < m * k; e++) wa[e] = up(a[e], dt);
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t i = 0; i < m; i++) s += wa[i * k + t] * up(g[i * n + j], dt);
            out[t * n + j] = down(s, dt);
        }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const uint16_t *g = grad_c, *pa = a;
    const int dt = call->dtype;
    const uint32_t work = (uint32_t)m * (uint32_t)n * (uint32_t)k;
    if (m && n && k && work <= TINY) {
        tiny(g, pa, grad_b, m, n, k, dt);
        return 0;
    }
    float *acc = malloc((size_t)(n + 1) * sizeof(float));
    for (int64_t t = 0; t < k; t++) {
        memset(acc, 0, (size_t)n * sizeof(float));
        for (int64_t i = 0; i < m; i++) {
            const float x = up(pa[i * k + t], dt);
            for (int64_t j = 0; j < n; j++) acc[j] += x * up(g[i * n + j], dt);
        }
        for (int64_t j = 0; j < n; j++) ((uint16_t *)grad_b)[t * n + j] = down(acc[j], dt);
    }
    free(acc);
    return 0;
}
