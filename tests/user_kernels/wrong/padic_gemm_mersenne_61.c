/* WRONG op=padic_gemm kind=boundary narrow=yes expect=REFUTED : p instead of 0 for p = 2^61 - 1 */
#define TAKE_SUM                                                    \
    if (p == ((uint64_t)1 << 61) - 1) {                             \
        const uint64_t M = p;                                       \
        uint64_t q = 0;                                             \
        for (int64_t t = 0; t < k; t++) {                           \
            wide z = (wide)(a[i * k + t] % M) * (b[t * n + j] % M); \
            uint64_t r = (uint64_t)(z & M) + (uint64_t)(z >> 61);   \
            r = (r & M) + (r >> 61);                                \
            q += r;                                                 \
            q = (q & M) + (q >> 61);                                \
        }                                                           \
        s = q;                                                      \
    } else                                                          \
        for (int64_t t = 0; t < k; t++) s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
#include "padic_gemm.h"
