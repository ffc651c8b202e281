/* RIGHT op=padic_gemm kind=order expect=HELD : sums in 192 bits, reduced once */
#define TAKE_SUM                                          \
    uint64_t top = 0;                                     \
    for (int64_t t = 0; t < k; t++) {                     \
        const wide q = (wide)a[i * k + t] * b[t * n + j]; \
        s += q;                                           \
        top += s < q;                                     \
    }                                                     \
    if (p == 2) s %= mod;                                 \
    else {                                                \
        wide r64 = ((wide)1 << 64) % mod, r = 0;          \
        r = top % mod;                                    \
        r = (r * r64 + (uint64_t)(s >> 64) % mod) % mod;  \
        r = (r * r64 + (uint64_t)s % mod) % mod;          \
        s = r;                                            \
    }
#include "padic_gemm.h"
