/* WRONG op=gemm_grad_a kind=thread_partition narrow=yes expect=REFUTED : threads form a grid of two columns and threads / 2 rows while the rows are dealt out for (threads + 1) / 2, so with 3, 5, 7... threads the last rows are left out */
#include <pthread.h>
#include "elements.h"
typedef struct {
    const tokitai_call *call;
    const void *grad_c, *b;
    void *grad_a;
    int64_t n, k, row, row_end, col, col_end;
} part;
static void *work(void *argument) {
    const part *p = argument;
    for (int64_t i = p->row; i < p->row_end; i++)
        for (int64_t t = p->col; t < p->col_end; t++) {
            float sum = 0;
            for (int64_t j = 0; j < p->n; j++)
                sum += tokitai_load(*p->call, p->grad_c, i * p->n + j) * tokitai_load(*p->call, p->b, t * p->n + j);
            tokitai_store(*p->call, p->grad_a, i * p->k + t, sum);
        }
    return NULL;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    enum { MOST = 64 };
    const int threads = call->threads < MOST ? call->threads : MOST;
    const int wide = threads > 1 ? 2 : 1, tall = threads / wide;
    const int64_t stripe = (m + (threads + wide - 1) / wide - 1) / ((threads + wide - 1) / wide),
                  half = (k + wide - 1) / wide;
    part parts[MOST];
    pthread_t id[MOST];
    int started[MOST] = {0};
    for (int x = 0; x < wide * tall; x++) {
        const int64_t r = x / wide, s = x % wide;
        parts[x] = (part){call,
                          grad_c,
                          b,
                          grad_a,
                          n,
                          k,
                          least(m, r * stripe),
                          least(m, (r + 1) * stripe),
                          least(k, s * half),
                          least(k, (s + 1) * half)};
        if (x > 0) started[x] = pthread_create(&id[x], NULL, work, &parts[x]) == 0;
        if (!started[x]) work(&parts[x]);
    }
    for (int x = 0; x < wide * tall; x++)
        if (started[x]) pthread_join(id[x], NULL);
    return 0;
}
