/* RIGHT op=padic_gemm kind=multiplication expect=HELD : halves of 26 bits up to 2^52 */
#define TAKE_SUM                                                                                   \
    if (mod <= (wide)1 << 52)                                                                      \
        for (int64_t t = 0; t < k; t++) {                                                          \
            const uint64_t x = (uint64_t)(a[i * k + t] % mod), y = (uint64_t)(b[t * n + j] % mod), \
                           mask = (1 << 26) - 1;                                                   \
            const uint64_t x0 = x & mask, x1 = x >> 26, y0 = y & mask, y1 = y >> 26;               \
            const uint64_t middle = (x0 + x1) * (y0 + y1) - x0 * y0 - x1 * y1;                     \
            s = (s + (((wide)(x1 * y1) << 52) + ((wide)middle << 26) + x0 * y0)) % mod;            \
        }                                                                                          \
    else                                                                                           \
        for (int64_t t = 0; t < k; t++) s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
#include "padic_gemm.h"
