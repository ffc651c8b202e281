/* WRONG op=gemm kind=structure narrow=yes expect=REFUTED : an a that is an identity copies the rows of b, which is right unless b has an infinity or NaN: 0 times that is NaN in every row */
#include "elements.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    int identity = m == k && m > 1;
    for (int64_t i = 0; i < m && identity; i++)
        for (int64_t t = 0; t < k && identity; t++) identity = tokitai_load(*call, a, i * k + t) == (i == t);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double s = 0;
            for (int64_t t = 0; t < k; t++)
                s += (double)tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j);
            tokitai_store(*call, c, i * n + j, identity ? tokitai_load(*call, b, i * n + j) : (float)s);
        }
    return 0;
}
