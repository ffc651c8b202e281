/* Wrong: the running sum is rounded to 16 bits after every addition. A test with atol = rtol = 1e-2 on small inputs passes it. */
#include <tokitai_kernel.h>

int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            tokitai_store(*call, c, i * n + j, 0);
            for (int64_t t = 0; t < k; t++)
                tokitai_store(*call, c, i * n + j,
                              tokitai_load(*call, c, i * n + j) +
                                  tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j));
        }
    return 0;
}
