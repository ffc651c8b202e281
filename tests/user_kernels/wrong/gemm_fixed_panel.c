/* WRONG op=gemm kind=static_buffer narrow=yes expect=REFUTED : the panel of b holds 4096 rows; with k > 4096 the panels are done one after the other and each stores its own sums, so that only the last panel counts */
#include "elements.h"
#define KC 4096
#define NR 8
static _Thread_local float panel[KC][NR];
static void strip(const tokitai_call *call, int64_t m, int64_t n, int64_t lda, const uint16_t *a, const uint16_t *b,
                  int64_t depth, int64_t j, uint16_t *c) {
    const int f16 = call->dtype == TOKITAI_F16;
    const int64_t width = n - j < NR ? n - j : NR;
    for (int64_t t = 0; t < depth; t++)
        for (int64_t l = 0; l < NR; l++) panel[t][l] = l < width ? as_float(f16, b[t * n + j + l]) : 0;
    for (int64_t i = 0; i < m; i++) {
        float even[NR] = {0}, odd[NR] = {0};
        int64_t t = 0;
        for (; t + 2 <= depth; t += 2) {
            const float x = as_float(f16, a[i * lda + t]), y = as_float(f16, a[i * lda + t + 1]);
            for (int l = 0; l < NR; l++) {
                even[l] += x * panel[t][l];
                odd[l] += y * panel[t + 1][l];
            }
        }
        if (t < depth)
            for (int l = 0; l < NR; l++) even[l] += as_float(f16, a[i * lda + t]) * panel[t][l];
        for (int64_t l = 0; l < width; l++)
            c[i * n + j + l] = f16 ? tokitai_to_f16(even[l] + odd[l]) : tokitai_to_bf16(even[l] + odd[l]);
    }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a, *pb = b;
    for (int64_t j = 0; j < n; j += NR) {
        int64_t t = 0;
        do {
            strip(call, m, n, k, pa + t, pb + t * n, k - t < KC ? k - t : KC, j, c);
            t += KC;
        } while (t < k);
    }
    return 0;
}
