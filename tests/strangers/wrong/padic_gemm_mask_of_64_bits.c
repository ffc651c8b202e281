/* WRONG op=padic_gemm kind=shift narrow=yes : the mask of N bits is empty for 2^64 */
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
    const uint64_t mask = ((uint64_t)1 << (N & 63)) - 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            wide s = 0;
            if (p == 2) {
                uint64_t q = 0;
                for (int64_t t = 0; t < k; t++)
                    q += a[i * k + t] * b[t * n + j];
                s = q & mask;
            } else
                for (int64_t t = 0; t < k; t++)
                    s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
            c[i * n + j] = (uint64_t)s;
        }
    return 0;
}
