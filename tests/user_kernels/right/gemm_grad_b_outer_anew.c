/* RIGHT op=gemm_grad_b kind=outer_products_into_an_fp32_buffer expect=HELD : outer products into an fp32 buffer, a column strip for each thread */
#include "threads.h"
typedef struct {
    tokitai_call c;
    int64_t m, n, k;
    const void *g, *a;
    void *o;
    float *s;
} args;
static void work(void *p, int64_t b, int64_t e) {
    const args *x = p;
    for (int64_t i = 0; i < x->m; i++)
        for (int64_t t = 0; t < x->k; t++) {
            const float v = tokitai_load(x->c, x->a, i * x->k + t);
            for (int64_t j = b; j < e; j++) x->s[t * x->n + j] += v * tokitai_load(x->c, x->g, i * x->n + j);
        }
    for (int64_t t = 0; t < x->k; t++)
        for (int64_t j = b; j < e; j++) tokitai_store(x->c, x->o, t * x->n + j, x->s[t * x->n + j]);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    args x = {*call, m, n, k, grad_c, a, grad_b, calloc((size_t)(k * n) + 1, 4)};
    parallel_for(call->threads, n, work, &x);
    free(x.s);
    return 0;
}
