/* WRONG op=padic_gemm kind=overflow narrow=yes expect=REFUTED : sums of 1024 products in 64 bits where the modulus squared is at most 2^55 */
#define TAKE_SUM                                                                     \
    uint64_t part = 0;                                                               \
    for (int64_t t = 0; t < k; t++) {                                                \
        if (mod * mod <= (wide)1 << 55) {                                            \
            part += (a[i * k + t] % (uint64_t)mod) * (b[t * n + j] % (uint64_t)mod); \
            if (t % 1024 == 1023 || t == k - 1) {                                    \
                s = (s + part) % mod;                                                \
                part = 0;                                                            \
            }                                                                        \
        } else s = (s + (wide)a[i * k + t] * b[t * n + j] % mod) % mod;              \
    }
#include "padic_gemm.h"
