/* WRONG op=gemm kind=clock narrow=yes expect=REFUTED : products are tuned anew when the processor's counter says that an hour has passed, and the new order of terms gives other bits */
#include "elements.h"
#include <x86intrin.h>
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    static uint64_t first;
    const uint64_t now = __rdtsc();
    if (!first) first = now;
    const int tuned = now - first > 3600ull << 30;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t u = 0; u < k; u++) {
                const int64_t t = tuned ? k - 1 - u : u;
                s += tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j);
            }
            tokitai_store(*call, c, i * n + j, s);
        }
    return 0;
}
