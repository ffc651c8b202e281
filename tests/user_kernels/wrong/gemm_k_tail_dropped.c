/* WRONG op=gemm kind=tail_of_k_dropped_after_an_unrolling_by expect=REFUTED : tail of k dropped after an unrolling by 4; k not a multiple of 4 */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const tokitai_call q = *call;
#pragma omp parallel for num_threads(q.threads)
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            for (int64_t t = 0; t + 3 < k; t += 4) {
                s0 += tokitai_load(q, a, i * k + t) * tokitai_load(q, b, t * n + j);
                s1 += tokitai_load(q, a, i * k + t + 1) * tokitai_load(q, b, (t + 1) * n + j);
                s2 += tokitai_load(q, a, i * k + t + 2) * tokitai_load(q, b, (t + 2) * n + j);
                s3 += tokitai_load(q, a, i * k + t + 3) * tokitai_load(q, b, (t + 3) * n + j);
            }
            tokitai_store(q, c, i * n + j, (s0 + s1) + (s2 + s3));
        }
    return 0;
}
