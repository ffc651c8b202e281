/* RIGHT op=gemm_grad_a kind=flat_range_exact_magic expect=HELD : the flat index is divided by k by a 64-bit reciprocal and set right by one step, in threads that end in the middle of rows */
#include "avx2.h"
#include "elements.h"
#include "threads.h"
struct work {
    const uint16_t *g, *b;
    uint16_t *out;
    int64_t m, n, k;
    uint64_t magic;
    int bf;
};
AVX2 static float dot(const uint16_t *x, const uint16_t *y, int64_t n, int bf) {
    __m256 s0 = _mm256_setzero_ps(), s1 = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 16 <= n; j += 16) {
        s0 = _mm256_fmadd_ps(ld8(x + j, bf), ld8(y + j, bf), s0);
        s1 = _mm256_fmadd_ps(ld8(x + j + 8, bf), ld8(y + j + 8, bf), s1);
    }
    if (j < n) {
        uint16_t p[16] = {0}, q[16] = {0};
        memcpy(p, x + j, (size_t)(n - j) * 2);
        memcpy(q, y + j, (size_t)(n - j) * 2);
        s0 = _mm256_fmadd_ps(ld8(p, bf), ld8(q, bf), s0);
        s1 = _mm256_fmadd_ps(ld8(p + 8, bf), ld8(q + 8, bf), s1);
    }
    return hsum(_mm256_sub_ps(s0, _mm256_sub_ps(_mm256_setzero_ps(), s1)));
}
static void body(void *arg, int id, int count) {
    const struct work *w = arg;
    const int64_t total = w->m * w->k;
    for (int64_t e = total * id / count; e < total * (id + 1) / count; e++) {
        int64_t i = (int64_t)(((unsigned __int128)(uint64_t)e * w->magic) >> 64);
        if ((i + 1) * w->k <= e) i++;
        w->out[e] = st1(dot(w->g + i * w->n, w->b + (e - i * w->k) * w->n, w->n, w->bf), w->bf);
    }
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    if (k == 0) return 0;
    struct work w = {grad_c, b, grad_a, m, n, k, UINT64_MAX / (uint64_t)k, call->dtype == TOKITAI_BF16};
    team_run(call->threads, body, &w);
    return 0;
}
