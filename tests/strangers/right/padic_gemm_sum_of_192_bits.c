/* RIGHT op=padic_gemm kind=order : sums in 192 bits, reduced once */
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
            uint64_t top = 0;
            for (int64_t t = 0; t < k; t++) {
                const wide q = (wide)a[i * k + t] * b[t * n + j];
                s += q;
                top += s < q;
            }
            if (p == 2)
                s %= mod;
            else {
                wide r64 = ((wide)1 << 64) % mod, r = 0;
                r = top % mod;
                r = (r * r64 + (uint64_t)(s >> 64) % mod) % mod;
                r = (r * r64 + (uint64_t)s % mod) % mod;
                s = r;
            }
            c[i * n + j] = (uint64_t)s;
        }
    return 0;
}
