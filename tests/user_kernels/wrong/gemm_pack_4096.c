/* WRONG op=gemm kind=packing_buffer_of_fixed_size expect=REFUTED : packing buffer of fixed size; k > 4096: memory behind it is overwritten */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float pack[4096];
    for (int64_t j = 0; j < n; j++) {
        for (int64_t t = 0; t < k; t++) pack[t] = tokitai_load(*call, b, t * n + j);
        for (int64_t i = 0; i < m; i++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++) s += tokitai_load(*call, a, i * k + t) * pack[t];
            tokitai_store(*call, c, i * n + j, s);
        }
    }
    return 0;
}
