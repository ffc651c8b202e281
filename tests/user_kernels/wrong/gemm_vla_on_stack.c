/* WRONG op=gemm kind=vla_on_stack narrow=yes expect=HELD : a row of fp32 sums is an array on the stack: n above about two million overruns 8 MiB */
#include "elements.h"
static void one_row(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t n, int64_t k, int dt) {
    float acc[n];
    for (int64_t j = 0; j < n; j++) acc[j] = 0;
    for (int64_t t = 0; t < k; t++) {
        const float x = up(a[t], dt);
        for (int64_t j = 0; j < n; j++) acc[j] += x * up(b[t * n + j], dt);
    }
    for (int64_t j = 0; j < n; j++) c[j] = down(acc[j], dt);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    if (n <= 0) return 0;
    for (int64_t i = 0; i < m; i++) one_row((const uint16_t *)a + i * k, b, (uint16_t *)c + i * n, n, k, call->dtype);
    return 0;
}
