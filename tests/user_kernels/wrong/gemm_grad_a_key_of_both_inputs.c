/* WRONG op=gemm_grad_a kind=same_bytes narrow=yes expect=REFUTED : the last result is kept under a hash of all bytes of grad_c and b one after the other, and its size: a 2x4 and a 3x4 factor are the same as a 3x4 and a 2x4 */
#include "kernel.h"
static float *widened(const tokitai_call *call, const void *p, int64_t count) {
    float *f = malloc((size_t)(count > 0 ? count : 1) * sizeof *f);
    for (int64_t i = 0; f && i < count; i++) f[i] = tokitai_load(*call, p, i);
    return f;
}
static float dot(const float *x, const float *y, int64_t count) {
    float sum = 0;
    for (int64_t t = 0; t < count; t++) sum += x[t] * y[t];
    return sum;
}
static struct {
    uint64_t key;
    int64_t count;
    uint16_t *result;
} last;
static uint64_t hashed(uint64_t h, const uint16_t *p, int64_t count) {
    for (int64_t i = 0; i < count; i++) h = (h ^ p[i]) * 0x100000001b3ull;
    return h;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const uint64_t key = hashed(hashed(0xcbf29ce484222325ull, grad_c, m * n), b, k * n);
    if (last.result && last.key == key && last.count == m * k) {
        if (m * k > 0) memcpy(grad_a, last.result, (size_t)(m * k) * 2);
        return 0;
    }
    float *G = widened(call, grad_c, m * n), *B = widened(call, b, k * n);
    if (!G || !B) return 1;
    free(last.result);
    last.result = malloc((size_t)(m * k) * 2 + 2);
    last.key = key;
    last.count = m * k;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            const uint16_t v = tokitai_to_f16(dot(G + i * n, B + t * n, n));
            ((uint16_t *)grad_a)[i * k + t] = v;
            if (last.result) last.result[i * k + t] = v;
        }
    free(G);
    free(B);
    return 0;
}
