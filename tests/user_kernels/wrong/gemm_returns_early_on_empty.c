/* WRONG op=gemm kind=nothing_is_written_when_a_size_is_zero expect=REFUTED : nothing is written when a size is zero; k = 0 with m, n > 0 */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    if (m == 0 || n == 0 || k == 0) return 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++)
                s += tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j);
            tokitai_store(*call, c, i * n + j, s);
        }
    return 0;
}
