/* WRONG op=padic_gemm kind=overflow narrow=yes expect=REFUTED : sums of 1536 products in 64 bits up to 2^27, which the largest residues overflow */
#define TAKE_SUM                                                                  \
    if (mod <= 1 << 27) {                                                         \
        uint64_t q = 0;                                                           \
        int64_t left = 0;                                                         \
        for (int64_t t = 0; t < k; t++) {                                         \
            q += (uint64_t)(a[i * k + t] % mod) * (uint64_t)(b[t * n + j] % mod); \
            if (++left == 1536) {                                                 \
                q %= (uint64_t)mod;                                               \
                left = 0;                                                         \
            }                                                                     \
        }                                                                         \
        s = q % mod;                                                              \
    } else                                                                        \
        for (int64_t t = 0; t < k; t++) s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
#include "padic_gemm.h"
