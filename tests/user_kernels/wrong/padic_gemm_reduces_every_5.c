/* WRONG op=padic_gemm kind=overflow narrow=yes expect=REFUTED : sums of 5 products in 128 bits, which the largest residues overflow from 0.9 times 2^63 on */
#define TAKE_SUM                                                \
    int left = 0;                                               \
    for (int64_t t = 0; t < k; t++) {                           \
        s += (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod); \
        if (mod > (wide)1 << 63 || ++left == 5) {               \
            s %= mod;                                           \
            left = 0;                                           \
        }                                                       \
    }                                                           \
    s %= mod;
#include "padic_gemm.h"
