/* WRONG op=gemm_grad_a kind=remainder_corner narrow=yes expect=REFUTED : 4x4 tiles, then 2-wide strips for the rest: where m % 4 == 3 and k % 4 == 3 the last corner element is not written */
#include "elements.h"
static inline float dot(const uint16_t *x, const uint16_t *y, int64_t n, int dt) {
    float s = 0;
    for (int64_t j = 0; j < n; j++) s += up(x[j], dt) * up(y[j], dt);
    return s;
}
static void tile(const uint16_t *g, const uint16_t *w, uint16_t *out, int64_t n, int64_t k, int rows, int cols,
                 int dt) {
    float s[4][4] = {{0}};
    for (int64_t j = 0; j < n; j++) {
        float x[4], y[4];
        for (int r = 0; r < rows; r++) x[r] = up(g[r * n + j], dt);
        for (int q = 0; q < cols; q++) y[q] = up(w[q * n + j], dt);
        for (int r = 0; r < rows; r++)
            for (int q = 0; q < cols; q++) s[r][q] += x[r] * y[q];
    }
    for (int r = 0; r < rows; r++)
        for (int q = 0; q < cols; q++) out[r * k + q] = down(s[r][q], dt);
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const uint16_t *g = grad_c, *w = b;
    uint16_t *out = grad_a;
    const int dt = call->dtype;
    const int64_t m4 = m & ~3, k4 = k & ~3, m2 = m & ~1, k2 = k & ~1;
    for (int64_t i = 0; i < m4; i += 4)
        for (int64_t t = 0; t < k4; t += 4) tile(g + i * n, w + t * n, out + i * k + t, n, k, 4, 4, dt);
    if (m2 > m4) /* a strip of two rows below the tiles */
        for (int64_t t = 0; t < k4; t += 4) tile(g + m4 * n, w + t * n, out + m4 * k + t, n, k, 2, 4, dt);
    if (k2 > k4) /* and of two columns beside both */
        for (int64_t i = 0; i < m2; i += 2) tile(g + i * n, w + k4 * n, out + i * k + k4, n, k, 2, 2, dt);
    if (m > m2) /* the odd row */
        for (int64_t t = 0; t < k2; t++) out[m2 * k + t] = down(dot(g + m2 * n, w + t * n, n, dt), dt);
    if (k > k2) /* the odd column */
        for (int64_t i = 0; i < m2; i++) out[i * k + k2] = down(dot(g + i * n, w + k2 * n, n, dt), dt);
    if ((m & k & 1) && !(m & k & 2)) /* where both meet, beside no 2x2 strip */
        out[m2 * k + k2] = down(dot(g + m2 * n, w + k2 * n, n, dt), dt);
    return 0;
}
