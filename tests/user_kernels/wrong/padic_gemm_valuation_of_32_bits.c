/* WRONG op=padic_gemm kind=skipping narrow=yes expect=REFUTED : terms are skipped where the lower 32 bits of a factor are 0, modulo powers of 2 */
#include "kernel.h"
static int val(uint64_t x, int64_t N) { return (uint32_t)x ? __builtin_ctz((uint32_t)x) : (int)N; }
#define TAKE_SUM                                                                  \
    for (int64_t t = 0; t < k; t++) {                                             \
        if (p == 2 && val(a[i * k + t], N) + val(b[t * n + j], N) >= N) continue; \
        s = (s + (wide)(a[i * k + t] % mod) * (b[t * n + j] % mod) % mod) % mod;  \
    }
#include "padic_gemm.h"
