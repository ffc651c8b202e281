/* WRONG op=padic_gemm kind=boundary narrow=yes : p instead of 0 for p = 2^61 - 1 */
#include "kernel.h"

typedef unsigned __int128 wide;

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
            if (p == ((uint64_t)1 << 61) - 1) {
                const uint64_t M = p;
                uint64_t q = 0;
                for (int64_t t = 0; t < k; t++) {
                    wide z = (wide)(a[i * k + t] % M) * (b[t * n + j] % M);
                    uint64_t r = (uint64_t)(z & M) + (uint64_t)(z >> 61);
                    r = (r & M) + (r >> 61);
                    q += r;
                    q = (q & M) + (q >> 61);
                }
                s = q;
            } else
                for (int64_t t = 0; t < k; t++)
                    s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
            c[i * n + j] = (uint64_t)s;
        }
    return 0;
}
