/* RIGHT op=gemm kind=compensated_fp32_sums_where_all_is_finit expect=HELD : compensated fp32 sums where all is finite, plain ones where not; threads over rows */
#include "threads.h"
typedef struct {
    tokitai_call c;
    int64_t n, k;
    const void *a, *b;
    void *o;
} args;
static void work(void *p, int64_t b, int64_t e) {
    const args *x = p;
    for (int64_t i = b; i < e; i++)
        for (int64_t j = 0; j < x->n; j++) {
            float s = 0, r = 0, plain = 0;
            for (int64_t t = 0; t < x->k; t++) {
                const float v = tokitai_load(x->c, x->a, i * x->k + t) * tokitai_load(x->c, x->b, t * x->n + j);
                const float y = v - r, u = s + y;
                plain += v;
                r = (u - s) - y;
                s = u;
            }
            tokitai_store(x->c, x->o, i * x->n + j, isfinite(s) ? s : plain);
        }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    args x = {*call, n, k, a, b, c};
    parallel_for(call->threads, m, work, &x);
    return 0;
}
