/* WRONG op=gemm_grad_b kind=table_of_first_dtype narrow=yes expect=REFUTED : the table that widens 16-bit elements is made once, for the dtype of the first call: a later call of the other dtype in the same process reads it too */
#include <pthread.h>
#include "elements.h"
static float table[65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int table_dtype;
static void make_table(void) {
    for (int i = 0; i < 65536; i++) table[i] = up((uint16_t)i, table_dtype);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const uint16_t *g = grad_c, *pa = a;
    table_dtype = call->dtype;
    pthread_once(&once, make_table);
    float *acc = malloc((size_t)(n + 1) * sizeof(float));
    for (int64_t t = 0; t < k; t++) {
        memset(acc, 0, (size_t)n * sizeof(float));
        for (int64_t i = 0; i < m; i++) {
            const float x = table[pa[i * k + t]];
            for (int64_t j = 0; j < n; j++) acc[j] += x * table[g[i * n + j]];
        }
        for (int64_t j = 0; j < n; j++) ((uint16_t *)grad_b)[t * n + j] = down(acc[j], call->dtype);
    }
    free(acc);
    return 0;
}
