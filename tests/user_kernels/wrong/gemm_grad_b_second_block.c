/* WRONG op=gemm_grad_b kind=second_chunk_off_by_one narrow=yes expect=REFUTED : rows are taken in blocks of 512, and every block after the first begins one row late */
#include "kernel.h"
enum { BLOCK = 512 };
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    float *acc = malloc((size_t)(n + 1) * sizeof *acc);
    if (!acc) return 1;
    for (int64_t t = 0; t < k; t++) {
        memset(acc, 0, (size_t)n * sizeof *acc);
        int64_t i = 0;
        for (int64_t end = BLOCK; i < m; end += BLOCK, i++)
            for (; i < m && i < end; i++) {
                const float av = tokitai_load(c, a, i * k + t);
                for (int64_t j = 0; j < n; j++) acc[j] += av * tokitai_load(c, grad_c, i * n + j);
            }
        for (int64_t j = 0; j < n; j++) tokitai_store(c, grad_b, t * n + j, acc[j]);
    }
    free(acc);
    return 0;
}
