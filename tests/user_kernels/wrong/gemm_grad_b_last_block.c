/* WRONG op=gemm_grad_b kind=block_boundary narrow=yes expect=REFUTED : whole blocks of 128 rows go to fp32 sums and the ragged block stores the result, but it returns at once when it has no rows, so with m % 128 == 0 and m >= 128 grad_b is not written */
#include "kernel.h"
#define MC 128
typedef struct {
    const tokitai_call *call;
    int64_t n, k;
    const uint16_t *a, *g;
    float *sum;
    void *out;
} job;
static void whole_block(const job *p, int64_t first) {
    for (int64_t i = first; i < first + MC; i += 2)
        for (int64_t t = 0; t < p->k; t++) {
            const float x = tokitai_load(*p->call, p->a, i * p->k + t),
                        y = tokitai_load(*p->call, p->a, (i + 1) * p->k + t);
            for (int64_t j = 0; j < p->n; j++)
                p->sum[t * p->n + j] += x * tokitai_load(*p->call, p->g, i * p->n + j) +
                                        y * tokitai_load(*p->call, p->g, (i + 1) * p->n + j);
        }
}
static void ragged_block(const job *p, int64_t first, int64_t rows) {
    if (rows == 0) return;
    for (int64_t t = 0; t < p->k; t++)
        for (int64_t j = 0; j < p->n; j++) {
            float sum = p->sum[t * p->n + j];
            for (int64_t i = first; i < first + rows; i++)
                sum += tokitai_load(*p->call, p->a, i * p->k + t) * tokitai_load(*p->call, p->g, i * p->n + j);
            tokitai_store(*p->call, p->out, t * p->n + j, sum);
        }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    if (k == 0 || n == 0) return 0;
    if (m == 0) {
        memset(grad_b, 0, (size_t)(k * n) * sizeof(uint16_t));
        return 0;
    }
    const job p = {call, n, k, a, grad_c, calloc((size_t)(k * n), sizeof(float)), grad_b};
    if (!p.sum) return 1;
    int64_t i = 0;
    for (; i + MC <= m; i += MC) whole_block(&p, i);
    ragged_block(&p, i, m - i);
    free(p.sum);
    return 0;
}
