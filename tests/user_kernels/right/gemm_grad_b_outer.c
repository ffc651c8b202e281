/* RIGHT op=gemm_grad_b kind=outer_product_tiles expect=HELD : tiles of 16 x 48 accumulators on the stack, one outer product for each row i in ascending order */
#include "kernel.h"
enum { TK = 16, TN = 48 };
static void tile(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const uint16_t *g, const uint16_t *a,
                 uint16_t *out, int64_t t0, int64_t j0) {
    const int nt = k - t0 < TK ? (int)(k - t0) : TK;
    const int nj = n - j0 < TN ? (int)(n - j0) : TN;
    float acc[TK][TN], left[TK], right[TN];
    memset(acc, 0, sizeof acc);
    for (int64_t i = 0; i < m; i++) {
        for (int t = 0; t < nt; t++) left[t] = tokitai_load(*call, a, i * k + t0 + t);
        for (int j = 0; j < nj; j++) right[j] = tokitai_load(*call, g, i * n + j0 + j);
        for (int t = 0; t < nt; t++)
            for (int j = 0; j < nj; j++) acc[t][j] += left[t] * right[j];
    }
    for (int t = 0; t < nt; t++)
        for (int j = 0; j < nj; j++) tokitai_store(*call, out, (t0 + t) * n + j0 + j, acc[t][j]);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    for (int64_t t0 = 0; t0 < k; t0 += TK)
        for (int64_t j0 = 0; j0 < n; j0 += TN) tile(call, m, n, k, grad_c, a, grad_b, t0, j0);
    return 0;
}
