/* RIGHT op=padic_gemm kind=multiplication expect=HELD : quotients in double below 2^53, where they are off by at most 1; the remainder is mended */
#include "kernel.h"
static uint64_t mul(uint64_t x, uint64_t y, uint64_t mod) {
    const uint64_t q = (uint64_t)((double)x * (double)y / (double)mod);
    int64_t r = (int64_t)(x * y - q * mod);
    if (r < 0) r += (int64_t)mod;
    return (uint64_t)r;
}
#define TAKE_SUM                                                                                           \
    for (int64_t t = 0; t < k; t++)                                                                        \
        s = (s + (mod < (wide)1 << 53                                                                      \
                      ? mul((uint64_t)(a[i * k + t] % mod), (uint64_t)(b[t * n + j] % mod), (uint64_t)mod) \
                      : (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod)) %                        \
            mod;
#include "padic_gemm.h"
