/* WRONG op=gemm_grad_b kind=blocks_of_m_overwrite_the_result_instead expect=REFUTED : blocks of m overwrite the result instead of adding; m > 64 */
#include "kernel.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    int64_t i0 = 0;
    do {
        const int64_t e = i0 + 64 < m ? i0 + 64 : m;
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) {
                float s = 0;
                for (int64_t i = i0; i < e; i++)
                    s += tokitai_load(c, a, i * k + t) * tokitai_load(c, grad_c, i * n + j);
                tokitai_store(c, grad_b, t * n + j, s);
            }
        i0 += 64;
    } while (i0 < m);
    return 0;
}
