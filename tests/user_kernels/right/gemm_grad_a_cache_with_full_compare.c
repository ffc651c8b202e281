/* RIGHT op=gemm_grad_a kind=cache_with_full_compare expect=HELD : keeps the widened b between calls and compares every byte of it before it is used again */
#include <pthread.h>
#include "elements.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint16_t *raw;
    float *wide;
    int64_t count;
    int dt;
} kept = {0, 0, -1, 0};
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const uint16_t *g = grad_c;
    const int dt = call->dtype;
    const int64_t count = k * n;
    pthread_mutex_lock(&lock);
    if (kept.count != count || kept.dt != dt || (count && memcmp(kept.raw, b, (size_t)count * 2) != 0)) {
        free(kept.raw);
        free(kept.wide);
        kept.raw = malloc((size_t)count * 2 + 2);
        kept.wide = malloc((size_t)count * 4 + 4);
        if (count) memcpy(kept.raw, b, (size_t)count * 2);
        for (int64_t e = 0; e < count; e++) kept.wide[e] = up(kept.raw[e], dt);
        kept.count = count;
        kept.dt = dt;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float s[7] = {0}; /* seven sums, each over every seventh product */
            for (int64_t j = 0; j < n; j++) s[j % 7] += up(g[i * n + j], dt) * kept.wide[t * n + j];
            ((uint16_t *)grad_a)[i * k + t] = down(((s[6] + s[5]) + (s[4] + s[3])) + ((s[2] + s[1]) + s[0]), dt);
        }
    pthread_mutex_unlock(&lock);
    return 0;
}
