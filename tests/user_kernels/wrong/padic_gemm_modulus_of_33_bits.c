/* WRONG op=padic_gemm kind=overflow narrow=yes expect=REFUTED : a modulus of up to 2^32 is kept in 32 bits, where 2^32 itself is 0 */
#define TAKE_SUM                                                                                                    \
    if (mod <= (wide)1 << 32) {                                                                                     \
        const uint32_t narrow = (uint32_t)mod;                                                                      \
        for (int64_t t = 0; t < k; t++) s = (s + (wide)(a[i * k + t] % narrow) * (b[t * n + j] % narrow)) % narrow; \
    } else {                                                                                                        \
        for (int64_t t = 0; t < k; t++) s = (s + (wide)a[i * k + t] * b[t * n + j] % mod) % mod;                    \
    }
#include "padic_gemm.h"
