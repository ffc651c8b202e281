/* WRONG op=gemm_grad_a kind=stale_padding narrow=yes expect=REFUTED : rows are padded to 16 in buffers kept between calls, and the padding is zeroed only when they grow: a call with n % 16 != 0 after one with a longer n adds old products */
#include <pthread.h>
#include "avx2.h"
#include "elements.h"
static float *left, *right;
static int64_t left_room, right_room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static float *room(float **buffer, int64_t *have, int64_t want) {
    if (want > *have) {
        free(*buffer);
        *buffer = calloc((size_t)want, sizeof(float)); /* padding is zero from here on */
        *have = want;
    }
    return *buffer;
}
AVX2 static float dot(const float *x, const float *y, int64_t padded) {
    __m256 s0 = _mm256_setzero_ps(), s1 = _mm256_setzero_ps();
    for (int64_t j = 0; j < padded; j += 16) {
        s0 = _mm256_fmadd_ps(_mm256_loadu_ps(x + j), _mm256_loadu_ps(y + j), s0);
        s1 = _mm256_fmadd_ps(_mm256_loadu_ps(x + j + 8), _mm256_loadu_ps(y + j + 8), s1);
    }
    return hsum(_mm256_add_ps(s0, s1));
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const int bf = call->dtype == TOKITAI_BF16;
    const uint16_t *g = grad_c, *w = b;
    const int64_t padded = (n + 15) & ~(int64_t)15;
    pthread_mutex_lock(&lock);
    float *row = room(&left, &left_room, padded + 16), *all = room(&right, &right_room, padded * k + 16);
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) all[t * padded + j] = ld1(w[t * n + j], bf);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) row[j] = ld1(g[i * n + j], bf);
        for (int64_t t = 0; t < k; t++) ((uint16_t *)grad_a)[i * k + t] = st1(dot(row, all + t * padded, padded), bf);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}
