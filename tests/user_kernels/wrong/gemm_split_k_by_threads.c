/* WRONG op=gemm kind=bits_depend_on_the_number_of_threads expect=REFUTED : bits depend on the number of threads, k is split among them; k >= 64, mixed values */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const tokitai_call q = *call;
    const int64_t parts = k >= 64 ? q.threads : 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float total = 0;
            for (int64_t p = 0; p < parts; p++) {
                float s = 0;
                for (int64_t t = k * p / parts; t < k * (p + 1) / parts; t++)
                    s += tokitai_load(q, a, i * k + t) * tokitai_load(q, b, t * n + j);
                total += s;
            }
            tokitai_store(q, c, i * n + j, total);
        }
    return 0;
}
