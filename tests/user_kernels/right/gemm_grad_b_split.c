/* RIGHT op=gemm_grad_b kind=m_in_fixed_pieces_of_128_whose_sums_are expect=HELD : m in fixed pieces of 128 whose sums are added in order, whatever the threads */
#include "kernel.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float total = 0;
            for (int64_t i0 = 0; i0 < m; i0 += 128) {
                float s = 0;
                for (int64_t i = i0; i < m && i < i0 + 128; i++)
                    s += tokitai_load(c, a, i * k + t) * tokitai_load(c, grad_c, i * n + j);
                total += s;
            }
            tokitai_store(c, grad_b, t * n + j, total);
        }
    return 0;
}
