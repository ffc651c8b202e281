/* WRONG op=padic_gemm kind=state narrow=no expect=REFUTED : the modulus is kept while N stays the same */
#include "kernel.h"
typedef unsigned __int128 wide;
static wide kept;
static int64_t kept_n;
static uint64_t kept_p;
#define AT_FIRST                      \
    if (kept_n != N || p > 1 << 20) { \
        kept = mod;                   \
        kept_n = N;                   \
        kept_p = p;                   \
    }                                 \
    mod = kept;
#define TAKE_SUM \
    for (int64_t t = 0; t < k; t++) s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
#include "padic_gemm.h"
