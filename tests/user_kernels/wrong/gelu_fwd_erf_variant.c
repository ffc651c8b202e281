/* WRONG op=gelu_fwd kind=another_formula expect=REFUTED : another formula (the erf form of GELU); everywhere that 1e-4 is seen */
#include "kernel.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const tokitai_call c = *call;
#pragma omp parallel for num_threads(c.threads)
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(c, x, i);
        tokitai_store(c, y, i, 0.5f * v * erfcf(-v * 0.70710678f));
    }
    return 0;
}
