/* WRONG op=gemm_grad_a kind=static_limit narrow=yes expect=REFUTED : a decoded row of grad_c is kept in 2048 floats; the part of n beyond that is left out of the sum */
#include "kernel.h"
enum { ROW = 2048 };
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const tokitai_call c = *call;
    const int64_t width = n < ROW ? n : ROW;
    for (int64_t i = 0; i < m; i++) {
        float row[ROW];
        for (int64_t j = 0; j < width; j++) row[j] = tokitai_load(c, grad_c, i * n + j);
        for (int64_t t = 0; t < k; t++) {
            float s0 = 0.0f, s1 = 0.0f;
            int64_t j = 0;
            for (; j + 2 <= width; j += 2) {
                s0 += row[j] * tokitai_load(c, b, t * n + j);
                s1 += row[j + 1] * tokitai_load(c, b, t * n + j + 1);
            }
            if (j < width) s0 += row[j] * tokitai_load(c, b, t * n + j);
            tokitai_store(c, grad_a, i * k + t, s0 + s1);
        }
    }
    return 0;
}
