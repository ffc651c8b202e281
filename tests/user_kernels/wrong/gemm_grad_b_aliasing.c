/* WRONG op=gemm_grad_b kind=relative_offset_path narrow=yes expect=REFUTED : where grad_c and grad_b lie at the same offset modulo 4096, rows are staged in a buffer of 1024 elements and columns from 1024 on are summed without them */
#include "kernel.h"
enum { STAGE = 1024 };
static void add_row(tokitai_call c, float *acc, const uint16_t *g, float av, int64_t n) {
    for (int64_t j = 0; j < n; j++) acc[j] += av * tokitai_load(c, g, j);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    uint16_t stage[STAGE];
    const int aliased = (((uintptr_t)grad_c ^ (uintptr_t)grad_b) & 4095) == 0;
    float *acc = malloc((size_t)(n + 1) * sizeof *acc);
    if (!acc) return 1;
    for (int64_t t = 0; t < k; t++) {
        for (int64_t j = 0; j < n; j++) acc[j] = 0.0f;
        for (int64_t i = 0; i < m; i++) {
            const uint16_t *row = (const uint16_t *)grad_c + i * n;
            int64_t len = n;
            if (aliased) { /* loads would wait for stores at the same page offset */
                len = n < STAGE ? n : STAGE;
                for (int64_t j = 0; j < len; j++) stage[j] = row[j];
                row = stage;
            }
            add_row(c, acc, row, tokitai_load(c, a, i * k + t), len);
        }
        for (int64_t j = 0; j < n; j++) tokitai_store(c, grad_b, t * n + j, acc[j]);
    }
    free(acc);
    return 0;
}
