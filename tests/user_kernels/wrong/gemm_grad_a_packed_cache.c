/* WRONG op=gemm_grad_a kind=cache_key_collision narrow=yes expect=REFUTED : decoded b is reused while address, sizes, dtype and a checksum of every 64th element agree, though other elements may have changed */
#include "kernel.h"
static _Thread_local struct {
    const void *from;
    int64_t n, k;
    int dtype;
    uint32_t sum;
    float *data;
} packed;
static uint32_t checksum(const uint16_t *b, int64_t count) {
    uint32_t h = 2166136261u;
    for (int64_t i = 0; i < count; i += 64) h = (h ^ b[i]) * 16777619u;
    return h;
}
static const float *pack(tokitai_call c, const uint16_t *b, int64_t n, int64_t k) {
    const uint32_t sum = checksum(b, n * k);
    if (packed.data && packed.from == b && packed.n == n && packed.k == k && packed.dtype == c.dtype &&
        packed.sum == sum)
        return packed.data;
    free(packed.data);
    packed.data = malloc((size_t)(n * k + 1) * sizeof(float));
    if (packed.data)
        for (int64_t i = 0; i < n * k; i++) packed.data[i] = tokitai_load(c, b, i);
    packed.from = b;
    packed.n = n;
    packed.k = k;
    packed.dtype = c.dtype;
    packed.sum = sum;
    return packed.data;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const float *w = pack(*call, b, n, k);
    if (!w) return 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float s = 0.0f;
            for (int64_t j = 0; j < n; j++) s += tokitai_load(*call, grad_c, i * n + j) * w[t * n + j];
            tokitai_store(*call, grad_a, i * k + t, s);
        }
    return 0;
}
