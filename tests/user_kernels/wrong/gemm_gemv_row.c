/* WRONG op=gemm kind=vector_path_tail narrow=yes expect=REFUTED : the path for a single row (m == 1, n >= 512) handles columns by eights and leaves out the last n % 8 */
#include "kernel.h"
static void row_times_matrix(tokitai_call cl, int64_t n, int64_t k, const uint16_t *a, const uint16_t *b,
                             uint16_t *c) {
    for (int64_t j = 0; j + 8 <= n; j += 8) {
        float acc[8] = {0};
        for (int64_t t = 0; t < k; t++) {
            const float av = tokitai_load(cl, a, t);
            for (int l = 0; l < 8; l++) acc[l] += av * tokitai_load(cl, b, t * n + j + l);
        }
        for (int l = 0; l < 8; l++) tokitai_store(cl, c, j + l, acc[l]);
    }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const tokitai_call cl = *call;
    if (m == 1 && n >= 512) {
        row_times_matrix(cl, n, k, a, b, c);
        return 0;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float acc = 0.0f;
            for (int64_t t = 0; t < k; t++) acc += tokitai_load(cl, a, i * k + t) * tokitai_load(cl, b, t * n + j);
            tokitai_store(cl, c, i * n + j, acc);
        }
    return 0;
}
