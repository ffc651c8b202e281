/* WRONG op=gemm kind=transposed_operand expect=REFUTED : transposed operand, the fast path for n == k reads B by rows; n == k > 1 */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const tokitai_call q = *call;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            if (n == k)
                for (int64_t t = 0; t < k; t++) s += tokitai_load(q, a, i * k + t) * tokitai_load(q, b, j * n + t);
            else
                for (int64_t t = 0; t < k; t++) s += tokitai_load(q, a, i * k + t) * tokitai_load(q, b, t * n + j);
            tokitai_store(q, c, i * n + j, s);
        }
    return 0;
}
