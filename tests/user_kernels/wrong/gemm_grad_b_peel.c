/* WRONG op=gemm_grad_b kind=address_dependent narrow=no expect=REFUTED : columns before the first 16-byte boundary of a row of grad_b are summed in sequence, the others in even and odd rows apart, so the bits depend on the alignment of grad_b */
#include "kernel.h"
typedef float v8 __attribute__((vector_size(32)));
static float column(const float *a, const float *g, int64_t m, int64_t n, int64_t k, int64_t t, int64_t j) {
    float sum = 0;
    for (int64_t i = 0; i < m; i++) sum += a[i * k + t] * g[i * n + j];
    return sum;
}
static void columns(const float *a, const float *g, int64_t m, int64_t n, int64_t k, int64_t t, int64_t j,
                    float out[8]) {
    v8 even = {0}, odd = {0}, x;
    int64_t i = 0;
    for (; i + 2 <= m; i += 2) {
        memcpy(&x, g + i * n + j, sizeof x);
        even += a[i * k + t] * x;
        memcpy(&x, g + (i + 1) * n + j, sizeof x);
        odd += a[(i + 1) * k + t] * x;
    }
    if (i < m) {
        memcpy(&x, g + i * n + j, sizeof x);
        even += a[i * k + t] * x;
    }
    even += odd;
    memcpy(out, &even, sizeof even);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    float *wide = malloc((size_t)(m * k + m * n + 1) * sizeof *wide);
    if (!wide) return 1;
    float *g = wide + m * k;
    for (int64_t i = 0; i < m * k; i++) wide[i] = tokitai_load(*call, a, i);
    for (int64_t i = 0; i < m * n; i++) g[i] = tokitai_load(*call, grad_c, i);
    uint16_t *to = grad_b;
    for (int64_t t = 0; t < k; t++) {
        int64_t j = 0;
        for (; j < n && ((uintptr_t)(to + t * n + j) & 15) != 0; j++)
            tokitai_store(*call, to, t * n + j, column(wide, g, m, n, k, t, j));
        for (; j + 8 <= n; j += 8) {
            float out[8];
            columns(wide, g, m, n, k, t, j, out);
            for (int l = 0; l < 8; l++) tokitai_store(*call, to, t * n + j + l, out[l]);
        }
        for (; j < n; j++) tokitai_store(*call, to, t * n + j, column(wide, g, m, n, k, t, j));
    }
    free(wide);
    return 0;
}
