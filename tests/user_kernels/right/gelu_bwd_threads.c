/* RIGHT op=gelu_bwd kind=threads_over_ranges expect=HELD : threads over ranges, derivative in double */
#include "threads.h"
typedef struct {
    tokitai_call c;
    const void *g, *x;
    void *o;
} args;
static void work(void *p, int64_t b, int64_t e) {
    const args *a = p;
    for (int64_t i = b; i < e; i++) {
        const double g = tokitai_load(a->c, a->g, i);
        double v = tokitai_load(a->c, a->x, i);
        if (v > 40) v = 40;
        if (v < -40) v = -40;
        const double t = 1.5957691216057308 * (v + 0.044715 * v * v * v), s = 1 / (1 + exp(-t)), q = 1 / (1 + exp(t));
        tokitai_store(a->c, a->o, i, (float)(g * (s + s * q * 1.5957691216057308 * v * (1 + 0.134145 * v * v))));
    }
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    args a = {*call, grad_output, x, grad_input};
    parallel_for(n < 4096 ? 1 : call->threads, n, work, &a);
    return 0;
}
