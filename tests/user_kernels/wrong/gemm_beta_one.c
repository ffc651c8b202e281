/* WRONG op=gemm kind=output_assumed_zero expect=REFUTED : output assumed zero, the product is added to what C holds; unless C was zero */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = tokitai_load(*call, c, i * n + j);
            for (int64_t t = 0; t < k; t++)
                s += tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j);
            tokitai_store(*call, c, i * n + j, s);
        }
    return 0;
}
