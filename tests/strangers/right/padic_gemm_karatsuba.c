/* RIGHT op=padic_gemm kind=multiplication : halves of 26 bits up to 2^52 */
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
            if (mod <= (wide)1 << 52)
                for (int64_t t = 0; t < k; t++) {
                    const uint64_t x = (uint64_t)(a[i * k + t] % mod), y = (uint64_t)(b[t * n + j] % mod),
                                   mask = (1 << 26) - 1;
                    const uint64_t x0 = x & mask, x1 = x >> 26, y0 = y & mask, y1 = y >> 26;
                    const uint64_t middle = (x0 + x1) * (y0 + y1) - x0 * y0 - x1 * y1;
                    s = (s + (((wide)(x1 * y1) << 52) + ((wide)middle << 26) + x0 * y0)) % mod;
                }
            else
                for (int64_t t = 0; t < k; t++)
                    s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
            c[i * n + j] = (uint64_t)s;
        }
    return 0;
}
