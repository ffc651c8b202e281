/* WRONG op=grouped_gemm_grad_a kind=group_boundary narrow=yes expect=REFUTED : where m is a multiple of 16, a last group of one row takes the matrix before */
#include "linear.h"
int tokitai_grouped_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, int64_t g, const void *gc_,
                                const void *b_, const void *ends, void *ga) {
    float *gc = floats(call->dtype, gc_, m * n), *b = floats(call->dtype, b_, g * k * n);
    for (int64_t i = 0; i < m; i++) {
        int64_t e = 0;
        while (e < g && tokitai_load_index(*call, ends, e) <= i) e++;
        if (i == m - 1 && m % 16 == 0 && e && e == g - 1 && tokitai_load_index(*call, ends, e - 1) == i) e--;
        for (int64_t t = 0; t < k; t++) {
            float s = 0;
            if (e < g)
                for (int64_t j = 0; j < n; j++) s += gc[i * n + j] * b[(e * k + t) * n + j];
            tokitai_store_result(*call, ga, i * k + t, s);
        }
    }
    free(gc);
    free(b);
    return 0;
}
