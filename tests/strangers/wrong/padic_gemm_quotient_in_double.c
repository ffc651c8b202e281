/* WRONG op=padic_gemm kind=approximation narrow=yes : quotients in double up to 2^55, off by more than 1 from 2^53 on */
#include "kernel.h"

typedef unsigned __int128 wide;
static uint64_t mul(uint64_t x, uint64_t y, uint64_t mod)
{
    const uint64_t q = (uint64_t)((double)x * (double)y / (double)mod);
    int64_t r = (int64_t)(x * y - q * mod);
    if (r < 0)
        r += (int64_t)mod;
    if (r >= (int64_t)mod)
        r -= (int64_t)mod;
    return (uint64_t)r;
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
            for (int64_t t = 0; t < k; t++)
                s = (s + (mod < (wide)1 << 55
                              ? mul((uint64_t)(a[i * k + t] % mod), (uint64_t)(b[t * n + j] % mod), (uint64_t)mod)
                              : (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod)) %
                    mod;
            c[i * n + j] = (uint64_t)s;
        }
    return 0;
}
