/* WRONG op=grouped_gemm_grad_b kind=counter_16_bits narrow=yes expect=REFUTED : counts the rows of a group in 16 bits */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>
#define END(e) tokitai_load_index(*call, ends, (e))
#define G(i, j) ((float)tokitai_load(*call, grad_c, (i)*n + (j)))
#define A(i, t) ((float)tokitai_load(*call, a, (i)*k + (t)))
#define OUT(e, t, j, v) tokitai_store_result(*call, grad_b, ((e)*k + (t)) * n + (j), (v))
int tokitai_grouped_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, int64_t g,
                                const void *grad_c, const void *a, const void *ends, void *grad_b) {
    for (int64_t e = 0; e < g; e++) {
        const int64_t begin = e ? END(e - 1) : 0;
        const uint16_t count = (uint16_t)(END(e) - begin);
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) {
                float sum = 0;
                for (int64_t i = begin; i < begin + count; i++) sum += A(i, t) * G(i, j);
                OUT(e, t, j, sum);
            }
    }
    return 0;
}
