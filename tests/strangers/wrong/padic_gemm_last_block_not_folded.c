/* WRONG op=padic_gemm kind=tile_border narrow=yes : the last block is lost where k is a multiple of 1024 */
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
            wide block = 0;
            for (int64_t t = 0; t < k; t++) {
                block = (block + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
                if ((t & 1023) == 1023 && t + 1 < k) {
                    s = (s + block) % mod;
                    block = 0;
                }
            }
            if (k & 1023)
                s = (s + block) % mod;
            c[i * n + j] = (uint64_t)s;
        }
    return 0;
}
