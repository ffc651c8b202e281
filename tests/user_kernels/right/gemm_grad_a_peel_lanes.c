/* RIGHT op=gemm_grad_a kind=peeled_decode_fixed_lanes expect=HELD : decoding peels to the address, while element j always goes to lane j mod 8 and lanes fold in one order */
#include "kernel.h"
static void decode(tokitai_call c, const uint16_t *src, float *dst, int64_t n) {
    int64_t j = 0;
    for (; j < n && ((uintptr_t)(src + j) & 15) != 0; j++) dst[j] = tokitai_load(c, src, j);
    for (; j + 8 <= n; j += 8)
        for (int l = 0; l < 8; l++) dst[j + l] = tokitai_load(c, src, j + l);
    for (; j < n; j++) dst[j] = tokitai_load(c, src, j);
}
static float dot(const float *p, const float *q, int64_t n) {
    float lane[8] = {0};
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int l = 0; l < 8; l++) lane[l] += p[j + l] * q[j + l];
    for (int l = 0; j + l < n; l++) lane[l] += p[j + l] * q[j + l];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const tokitai_call c = *call;
    const size_t row = (size_t)n + 8;
    float *g = malloc(5 * row * sizeof *g);
    if (!g) return 1;
    float *w = g + 4 * row;
    for (int64_t i0 = 0; i0 < m; i0 += 4) {
        const int64_t mr = m - i0 < 4 ? m - i0 : 4;
        for (int64_t i = 0; i < mr; i++) decode(c, (const uint16_t *)grad_c + (i0 + i) * n, g + (size_t)i * row, n);
        for (int64_t t = 0; t < k; t++) {
            decode(c, (const uint16_t *)b + t * n, w, n);
            for (int64_t i = 0; i < mr; i++)
                tokitai_store(c, grad_a, (i0 + i) * k + t, dot(g + (size_t)i * row, w, n));
        }
    }
    free(g);
    return 0;
}
