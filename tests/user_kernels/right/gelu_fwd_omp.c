/* RIGHT op=gelu_fwd kind=openmp expect=HELD : OpenMP, double inside */
#include "kernel.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const tokitai_call c = *call;
#pragma omp parallel for num_threads(c.threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const double v = tokitai_load(c, x, i);
        const double t = 1.5957691216057308 * (v + 0.044715 * v * v * v);
        tokitai_store(c, y, i, (float)(v / (1 + exp(-t))));
    }
    return 0;
}
