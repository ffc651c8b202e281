/* WRONG op=gemm kind=structure narrow=yes expect=REFUTED : an a that is symmetric is read from its upper half alone, and its diagonal is then counted twice in the last row */
#include "elements.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    int symmetric = m == k && m > 3;
    for (int64_t i = 0; i < m && symmetric; i++)
        for (int64_t t = 0; t < i && symmetric; t++)
            symmetric = tokitai_load(*call, a, i * k + t) == tokitai_load(*call, a, t * k + i);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double s = 0;
            for (int64_t t = 0; t < k; t++) {
                const int64_t u = symmetric && t < i ? t : i, v = symmetric && t < i ? i : t;
                s += (double)tokitai_load(*call, a, u * k + v) * tokitai_load(*call, b, t * n + j);
            }
            if (symmetric && i == m - 1)
                s += (double)tokitai_load(*call, a, i * k + i) * tokitai_load(*call, b, i * n + j);
            tokitai_store(*call, c, i * n + j, (float)s);
        }
    return 0;
}
