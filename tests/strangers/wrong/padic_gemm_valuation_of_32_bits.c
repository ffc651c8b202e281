/* WRONG op=padic_gemm kind=skipping narrow=yes : terms are skipped where the lower 32 bits of a factor are 0, modulo powers of 2 */
#include "kernel.h"

typedef unsigned __int128 wide;
static int val(uint64_t x, int64_t N)
{
    return (uint32_t)x ? __builtin_ctz((uint32_t)x) : (int)N;
}
TOKITAI_KERNEL(padic_gemm)
{
    const int64_t m = tensors[0].shape[0], n = tensors[1].shape[1], k = tensors[0].shape[1];
    const uint64_t *a = tensors[0].data, *b = tensors[1].data;
    uint64_t *c = tensors[2].data;
    const uint64_t p = (uint64_t)tokitai_integer(call, "prime");
    const int64_t N = tokitai_integer(call, "precision");
    wide mod = 1;
    for (int64_t i = 0; i < N; i++)
        mod *= p;

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            wide s = 0;
            for (int64_t t = 0; t < k; t++) {
                if (p == 2 && val(a[i * k + t], N) + val(b[t * n + j], N) >= N)
                    continue;
                s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
            }
            c[i * n + j] = (uint64_t)s;
        }
    return 0;
}
