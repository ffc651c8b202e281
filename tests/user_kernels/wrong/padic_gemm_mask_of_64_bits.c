/* WRONG op=padic_gemm kind=shift narrow=yes expect=REFUTED : the mask of N bits is empty for 2^64 */
#define AT_FIRST const uint64_t mask = ((uint64_t)1 << (N & 63)) - 1;
#define TAKE_SUM                                                          \
    if (p == 2) {                                                         \
        uint64_t q = 0;                                                   \
        for (int64_t t = 0; t < k; t++) q += a[i * k + t] * b[t * n + j]; \
        s = q & mask;                                                     \
    } else                                                                \
        for (int64_t t = 0; t < k; t++) s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
#include "padic_gemm.h"
