/* WRONG op=gemm_grad_a kind=conversion narrow=yes expect=REFUTED : the table of fp16 values treats exponent 31 like any other, so an infinity counts as 65536 and a NaN as a larger finite number */
#include <pthread.h>
#include "kernel.h"
static float half_table[65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void fill(void) {
    for (int p = 0; p < 65536; p++) {
        const int exponent = p >> 10 & 31, fraction = p & 1023;
        const float v = exponent ? ldexpf((float)(1024 + fraction), exponent - 25) : ldexpf((float)fraction, -24);
        half_table[p] = p & 0x8000 ? -v : v;
    }
}
static void widen(const tokitai_call *call, const uint16_t *from, int64_t count, float *to) {
    if (call->dtype == TOKITAI_F16)
        for (int64_t i = 0; i < count; i++) to[i] = half_table[from[i]];
    else
        for (int64_t i = 0; i < count; i++) to[i] = tokitai_from_bf16(from[i]);
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    pthread_once(&once, fill);
    float *wide = malloc((size_t)((k + 1) * n + 1) * sizeof *wide);
    if (!wide) return 1;
    float *row = wide + k * n;
    widen(call, b, k * n, wide);
    for (int64_t i = 0; i < m; i++) {
        widen(call, (const uint16_t *)grad_c + i * n, n, row);
        for (int64_t t = 0; t < k; t++) {
            const float *line = wide + t * n;
            float s0 = 0, s1 = 0;
            int64_t j = 0;
            for (; j + 2 <= n; j += 2) {
                s0 += row[j] * line[j];
                s1 += row[j + 1] * line[j + 1];
            }
            if (j < n) s0 += row[j] * line[j];
            tokitai_store(*call, grad_a, i * k + t, s0 + s1);
        }
    }
    free(wide);
    return 0;
}
