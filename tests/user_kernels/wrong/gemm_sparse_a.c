/* WRONG op=gemm kind=zero_skip_loses_inf narrow=yes expect=REFUTED : zeros of a are skipped, so that 0 times an infinity or NaN of b leaves no NaN */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const tokitai_call cl = *call;
    float *acc = malloc((size_t)(n + 1) * sizeof *acc);
    if (!acc) return 1;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) acc[j] = 0.0f;
        for (int64_t t = 0; t < k; t++) {
            const float av = tokitai_load(cl, a, i * k + t);
            if (av == 0.0f) continue; /* activations after a ReLU are half zeros */
            for (int64_t j = 0; j < n; j++) acc[j] += av * tokitai_load(cl, b, t * n + j);
        }
        for (int64_t j = 0; j < n; j++) tokitai_store(cl, c, i * n + j, acc[j]);
    }
    free(acc);
    return 0;
}
