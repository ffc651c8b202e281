/* WRONG op=padic_gemm kind=overflow narrow=yes expect=REFUTED : the carry of the reduction is lost from 2^63 on */
#include "kernel.h"
typedef unsigned __int128 wide;
static uint64_t inverse(uint64_t m) {
    uint64_t x = m;
    for (int i = 0; i < 6; i++) x *= 2 - m * x;
    return 0 - x;
}
static uint64_t redc(wide t, uint64_t m, uint64_t inv) {
    const uint64_t q = (uint64_t)t * inv;
    const wide u = t + (wide)q * m;
    uint64_t r = (uint64_t)(u >> 64);
    if (r >= m) r -= m;
    return r;
}
#define TAKE_SUM                                                                                                    \
    if (p > 2) {                                                                                                    \
        const uint64_t M = (uint64_t)mod, inv = inverse(M),                                                         \
                       r2 = (uint64_t)((wide)0 - (wide)0) + (uint64_t)((((wide)(uint64_t)(((wide)1 << 64) % mod)) * \
                                                                        (uint64_t)(((wide)1 << 64) % mod)) %        \
                                                                       mod);                                        \
        for (int64_t t = 0; t < k; t++)                                                                             \
            s = (s + redc((wide)redc((wide)(uint64_t)(a[i * k + t] % mod) * r2, M, inv) *                           \
                              (uint64_t)(b[t * n + j] % mod),                                                       \
                          M, inv)) %                                                                                \
                mod;                                                                                                \
    } else                                                                                                          \
        for (int64_t t = 0; t < k; t++) s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;
#include "padic_gemm.h"
