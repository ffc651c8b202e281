/* WRONG op=gemm kind=partial_sums_are_kept_in_c expect=REFUTED : partial sums are kept in C (16 bits) between blocks of k; k > 256 */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const tokitai_call q = *call;
    for (int64_t i = 0; i < m * n; i++) ((uint16_t *)c)[i] = 0;
    for (int64_t k0 = 0; k0 < k; k0 += 256) {
        const int64_t e = k0 + 256 < k ? k0 + 256 : k;
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                float s = tokitai_load(q, c, i * n + j);
                for (int64_t t = k0; t < e; t++) s += tokitai_load(q, a, i * k + t) * tokitai_load(q, b, t * n + j);
                tokitai_store(q, c, i * n + j, s);
            }
    }
    return 0;
}
