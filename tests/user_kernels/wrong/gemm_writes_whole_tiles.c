/* WRONG op=gemm kind=writes_outside expect=REFUTED : writes outside, the last tile of a row is stored whole; n not a multiple of 4 (the row below repairs it, the last has none) */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j += 4) {
            float s[4] = {0};
            for (int64_t t = 0; t < k; t++)
                for (int64_t l = 0; l < 4 && j + l < n; l++)
                    s[l] += tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j + l);
            for (int l = 0; l < 4; l++) tokitai_store(*call, c, i * n + j + l, s[l]);
        }
    return 0;
}
