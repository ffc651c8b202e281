/* WRONG op=gemm_grad_a kind=double_counting expect=REFUTED : double counting, the tail starts at n & ~7 minus 8; n > 8 and not a multiple of 8 */
#include "kernel.h"
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const tokitai_call c = *call;
#pragma omp parallel for num_threads(c.threads)
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float l[8] = {0}, s = 0;
            int64_t j = 0;
            for (; j + 8 <= n; j += 8)
                for (int x = 0; x < 8; x++)
                    l[x] += tokitai_load(c, grad_c, i * n + j + x) * tokitai_load(c, b, t * n + j + x);
            for (int x = 0; x < 8; x++) s += l[x];
            if (n & 7)
                for (j = n > 8 ? n - 8 : 0; j < n; j++)
                    s += tokitai_load(c, grad_c, i * n + j) * tokitai_load(c, b, t * n + j);
            tokitai_store(c, grad_a, i * k + t, s);
        }
    return 0;
}
