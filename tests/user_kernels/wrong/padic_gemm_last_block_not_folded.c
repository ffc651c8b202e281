/* WRONG op=padic_gemm kind=tile_border narrow=yes expect=REFUTED : the last block is lost where k is a multiple of 1024 */
#define TAKE_SUM                                                                         \
    wide block = 0;                                                                      \
    for (int64_t t = 0; t < k; t++) {                                                    \
        block = (block + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod; \
        if ((t & 1023) == 1023 && t + 1 < k) {                                           \
            s = (s + block) % mod;                                                       \
            block = 0;                                                                   \
        }                                                                                \
    }                                                                                    \
    if (k & 1023) s = (s + block) % mod;
#include "padic_gemm.h"
