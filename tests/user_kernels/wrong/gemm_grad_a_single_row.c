/* WRONG op=gemm_grad_a kind=the_path_for_one_row_forgets_the_odd_las expect=REFUTED : the path for one row forgets the odd last column; m == 1 and n odd */
#include "kernel.h"
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const tokitai_call c = *call;
    if (m == 1) { /* decoding: a vector times a matrix, two columns at a time */
        for (int64_t t = 0; t < k; t++) {
            float s0 = 0, s1 = 0;
            for (int64_t j = 0; j + 1 < n; j += 2) {
                s0 += tokitai_load(c, grad_c, j) * tokitai_load(c, b, t * n + j);
                s1 += tokitai_load(c, grad_c, j + 1) * tokitai_load(c, b, t * n + j + 1);
            }
            tokitai_store(c, grad_a, t, s0 + s1);
        }
        return 0;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float s = 0;
            for (int64_t j = 0; j < n; j++) s += tokitai_load(c, grad_c, i * n + j) * tokitai_load(c, b, t * n + j);
            tokitai_store(c, grad_a, i * k + t, s);
        }
    return 0;
}
