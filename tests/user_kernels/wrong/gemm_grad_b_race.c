/* WRONG op=gemm_grad_b kind=race expect=REFUTED : race, threads over m add to one buffer; several threads, m of some hundred */
#include "threads.h"
typedef struct {
    tokitai_call c;
    int64_t n, k;
    const void *g, *a;
    float *s;
} args;
static void work(void *p, int64_t b, int64_t e) {
    const args *x = p;
    for (int64_t i = b; i < e; i++)
        for (int64_t t = 0; t < x->k; t++)
            for (int64_t j = 0; j < x->n; j++)
                x->s[t * x->n + j] += tokitai_load(x->c, x->a, i * x->k + t) * tokitai_load(x->c, x->g, i * x->n + j);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    args x = {*call, n, k, grad_c, a, calloc((size_t)(k * n) + 1, 4)};
    parallel_for(call->threads, m, work, &x);
    for (int64_t i = 0; i < k * n; i++) tokitai_store(*call, grad_b, i, x.s[i]);
    free(x.s);
    return 0;
}
