/* WRONG op=grouped_gemm kind=index_overflow narrow=yes expect=REFUTED : the number of a group is kept in 10 bits */
#include "linear.h"
int tokitai_grouped_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, int64_t g, const void *a_,
                         const void *b_, const void *ends, void *c) {
    float *a = floats(call->dtype, a_, m * k), *b = floats(call->dtype, b_, g * k * n);
    for (int64_t i = 0; i < m; i++) {
        int64_t e = 0;
        while (e < g && tokitai_load_index(*call, ends, e) <= i) e++;
        if (e < g) e &= 1023;
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            if (e < g)
                for (int64_t t = 0; t < k; t++) s += a[i * k + t] * b[(e * k + t) * n + j];
            tokitai_store_result(*call, c, i * n + j, s);
        }
    }
    free(a);
    free(b);
    return 0;
}
