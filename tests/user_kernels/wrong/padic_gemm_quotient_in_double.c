/* WRONG op=padic_gemm kind=approximation narrow=yes expect=REFUTED : quotients in double up to 2^55, off by more than 1 from 2^53 on */
#include "kernel.h"
static uint64_t mul(uint64_t x, uint64_t y, uint64_t mod) {
    const uint64_t q = (uint64_t)((double)x * (double)y / (double)mod);
    int64_t r = (int64_t)(x * y - q * mod);
    if (r < 0) r += (int64_t)mod;
    if (r >= (int64_t)mod) r -= (int64_t)mod;
    return (uint64_t)r;
}
#define TAKE_SUM                                                                                           \
    for (int64_t t = 0; t < k; t++)                                                                        \
        s = (s + (mod < (wide)1 << 55                                                                      \
                      ? mul((uint64_t)(a[i * k + t] % mod), (uint64_t)(b[t * n + j] % mod), (uint64_t)mod) \
                      : (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod)) %                        \
            mod;
#include "padic_gemm.h"
