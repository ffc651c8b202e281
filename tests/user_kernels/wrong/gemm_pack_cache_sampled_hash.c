/* WRONG op=gemm kind=pack_cache_sampled_hash narrow=yes expect=REFUTED : the fp32 copy of a weight matrix of 16384 elements or more is kept between calls by address, sizes and a hash of every 61st element */
#include <pthread.h>
#include "elements.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const void *ptr;
    int64_t n, k;
    int dt;
    uint64_t hash;
    float *data;
} kept;
/* Hashing all of b costs as much as converting it, so a sample has to do. */
static uint64_t fingerprint(const uint16_t *b, int64_t count) {
    uint64_t h = 1469598103934665603ull;
    for (int64_t i = 0; i < count; i += 61) h = (h ^ b[i]) * 1099511628211ull;
    return (h ^ b[count - 1]) * 1099511628211ull;
}
static void product(const uint16_t *a, const float *b, uint16_t *c, int64_t m, int64_t n, int64_t k, int dt) {
    float acc[64];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j0 = 0; j0 < n; j0 += 64) {
            const int64_t w = n - j0 < 64 ? n - j0 : 64;
            for (int64_t j = 0; j < w; j++) acc[j] = 0;
            for (int64_t t = 0; t < k; t++) {
                const float x = up(a[i * k + t], dt);
                const float *row = b + t * n + j0;
                for (int64_t j = 0; j < w; j++) acc[j] += x * row[j];
            }
            for (int64_t j = 0; j < w; j++) c[i * n + j0 + j] = down(acc[j], dt);
        }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const int64_t count = k * n;
    const int dt = call->dtype;
    const uint16_t *pb = b;
    if (count < 16384) {
        float *tmp = malloc((size_t)(count + 1) * sizeof(float));
        for (int64_t i = 0; i < count; i++) tmp[i] = up(pb[i], dt);
        product(a, tmp, c, m, n, k, dt);
        free(tmp);
        return 0;
    }
    pthread_mutex_lock(&lock);
    const uint64_t hash = fingerprint(pb, count);
    if (kept.ptr != b || kept.n != n || kept.k != k || kept.dt != dt || kept.hash != hash) {
        free(kept.data);
        kept.data = malloc((size_t)count * sizeof(float));
        for (int64_t i = 0; i < count; i++) kept.data[i] = up(pb[i], dt);
        kept.ptr = b;
        kept.n = n;
        kept.k = k;
        kept.dt = dt;
        kept.hash = hash;
    }
    product(a, kept.data, c, m, n, k, dt);
    pthread_mutex_unlock(&lock);
    return 0;
}
