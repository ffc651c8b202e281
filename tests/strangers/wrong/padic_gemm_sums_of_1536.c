/* WRONG op=padic_gemm kind=overflow narrow=yes : sums of 1536 products in 64 bits up to 2^27, which the largest residues overflow */
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
            if (mod <= 1 << 27) {
                uint64_t q = 0;
                int64_t left = 0;
                for (int64_t t = 0; t < k; t++) {
                    q += (uint64_t)(a[i * k + t] % mod) * (uint64_t)(b[t * n + j] % mod);
                    if (++left == 1536) {
                        q %= (uint64_t)mod;
                        left = 0;
                    }
                }
                s = q % mod;
            } else
                for (int64_t t = 0; t < k; t++)
                    s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
            c[i * n + j] = (uint64_t)s;
        }
    return 0;
}
