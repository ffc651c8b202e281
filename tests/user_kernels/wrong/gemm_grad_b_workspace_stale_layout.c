/* WRONG op=gemm_grad_b kind=workspace_stale_layout narrow=yes expect=REFUTED : the workspace kept between calls is laid out anew only when it grows: after a call with a small m * k and a large m * n, a larger m * k that still fits runs into grad_c's part */
#include <pthread.h>
#include "elements.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    float *base;
    size_t size, second;
} space;
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const uint16_t *g = grad_c, *pa = a;
    uint16_t *out = grad_b;
    const int dt = call->dtype;
    const size_t na = (size_t)(m * k), ng = (size_t)(m * n);
    pthread_mutex_lock(&lock);
    if (na + ng > space.size || !space.base) {
        free(space.base);
        space.base = malloc((na + ng + 1) * sizeof(float));
        space.size = na + ng;
        space.second = na; /* a^T first, then grad_c */
    }
    float *at = space.base, *wg = space.base + space.second;
    if (space.second + ng > space.size) /* too little behind it: the other way round does */
        wg = space.base, at = space.base + ng;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) at[t * m + i] = up(pa[i * k + t], dt);
    for (size_t e = 0; e < ng; e++) wg[e] = up(g[e], dt);
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t i = 0; i < m; i++) s += at[t * m + i] * wg[i * n + j];
            out[t * n + j] = down(s, dt);
        }
    pthread_mutex_unlock(&lock);
    return 0;
}
