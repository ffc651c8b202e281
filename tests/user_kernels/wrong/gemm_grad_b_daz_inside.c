/* WRONG op=gemm_grad_b kind=subnormals_flushed expect=REFUTED : subnormals flushed, FTZ and DAZ are set during the call and restored; bf16 subnormal inputs or results */
#include <immintrin.h>
#include "kernel.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    const unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | 0x8040);
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t i = 0; i < m; i++) s += tokitai_load(c, a, i * k + t) * tokitai_load(c, grad_c, i * n + j);
            tokitai_store(c, grad_b, t * n + j, s);
        }
    _mm_setcsr(mode);
    return 0;
}
