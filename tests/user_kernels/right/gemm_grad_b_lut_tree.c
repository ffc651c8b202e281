/* RIGHT op=gemm_grad_b kind=decode_table_pairwise expect=HELD : decode tables for each dtype, blocks of 32 rows summed in sequence and folded by a binary-counter tree */
#include <pthread.h>
#include "kernel.h"
static float decode[2][65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void fill(void) {
    for (uint32_t p = 0; p < 65536; p++) {
        decode[0][p] = tokitai_from_f16((uint16_t)p);
        decode[1][p] = tokitai_from_bf16((uint16_t)p);
    }
}
static float column_dot(const float *lut, const uint16_t *a, int64_t k, const uint16_t *g, int64_t n, int64_t m) {
    float level[64];
    uint64_t blocks = 0;
    for (int64_t i0 = 0; i0 < m; i0 += 32) {
        const int64_t i1 = m - i0 < 32 ? m : i0 + 32;
        float part = 0.0f;
        for (int64_t i = i0; i < i1; i++) part += lut[a[i * k]] * lut[g[i * n]];
        int d = 0;
        for (uint64_t carry = blocks; carry & 1; carry >>= 1) part = level[d++] + part;
        level[d] = part;
        blocks++;
    }
    float total = 0.0f;
    for (int d = 0; d < 64; d++)
        if (blocks >> d & 1) total = level[d] + total;
    return total;
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    pthread_once(&once, fill);
    const float *lut = decode[call->dtype == TOKITAI_BF16];
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++)
            tokitai_store(*call, grad_b, t * n + j,
                          column_dot(lut, (const uint16_t *)a + t, k, (const uint16_t *)grad_c + j, n, m));
    return 0;
}
