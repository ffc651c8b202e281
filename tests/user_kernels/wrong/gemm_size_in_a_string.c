/* WRONG op=gemm kind=tuned_size narrow=yes expect=REFUTED : sizes for which there is a tuned path are read from a text; that for n = 613 leaves out the last term of each sum */
#include "elements.h"
static const char *const tuned = "n=613,n=1229";
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const int64_t terms = n == strtol(tuned + 2, NULL, 10) && k > 1 ? k - 1 : k;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double s = 0;
            for (int64_t t = 0; t < terms; t++)
                s += (double)tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j);
            tokitai_store(*call, c, i * n + j, (float)s);
        }
    return 0;
}
