/* WRONG op=gemm kind=stale_cache narrow=yes expect=REFUTED : the widened b of the last call is used again when address, sizes and a sample of about 32 elements agree, so a change of another element of b is missed */
#include "kernel.h"
static struct {
    const void *from;
    int64_t n, k;
    int32_t dtype;
    uint64_t sample;
    size_t room;
    float *wide;
} cache;
static uint64_t sample(const uint16_t *b, int64_t count) {
    uint64_t h = 1469598103934665603u;
    const int64_t step = count / 32 + 1;
    for (int64_t i = 0; i < count; i += step) h = (h ^ b[i]) * 1099511628211u;
    return h;
}
static const float *widened(const tokitai_call *call, const uint16_t *b, int64_t k, int64_t n) {
    const uint64_t h = sample(b, k * n);
    if (cache.wide && cache.from == b && cache.n == n && cache.k == k && cache.dtype == call->dtype &&
        cache.sample == h)
        return cache.wide;
    const size_t bytes = (size_t)(k * n + 1) * sizeof(float);
    if (bytes > cache.room) {
        free(cache.wide);
        cache.wide = malloc(bytes);
        cache.room = cache.wide ? bytes : 0;
        if (!cache.wide) return NULL;
    }
    for (int64_t i = 0; i < k * n; i++) cache.wide[i] = tokitai_load(*call, b, i);
    cache.from = b;
    cache.n = n;
    cache.k = k;
    cache.dtype = call->dtype;
    cache.sample = h;
    return cache.wide;
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const float *wide = widened(call, b, k, n);
    float *sum = malloc((size_t)(n + 1) * sizeof *sum);
    if (!wide || !sum) {
        free(sum);
        return 1;
    }
    for (int64_t i = 0; i < m; i++) {
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (int64_t t = 0; t < k; t++) {
            const float x = tokitai_load(*call, a, i * k + t);
            const float *row = wide + t * n;
            for (int64_t j = 0; j < n; j++) sum[j] += x * row[j];
        }
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, c, i * n + j, sum[j]);
    }
    free(sum);
    return 0;
}
