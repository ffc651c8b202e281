/* WRONG op=gemm kind=strassen narrow=yes expect=REFUTED : with all three sizes multiples of 32 and at least 64, one Strassen step is taken, whose errors scale with the largest elements and which turns infinities into NaN */
#include "kernel.h"
static void product(const float *a, int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc, int64_t m,
                    int64_t n, int64_t k) {
    for (int64_t i = 0; i < m; i++) {
        memset(c + i * ldc, 0, (size_t)n * sizeof *c);
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) c[i * ldc + j] += a[i * lda + t] * b[t * ldb + j];
    }
}
/* to = x + f y */
static void combine(float *to, int64_t ldt, const float *x, const float *y, float f, int64_t ld, int64_t rows,
                    int64_t cols) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) to[i * ldt + j] = x[i * ld + j] + f * y[i * ld + j];
}
static void strassen(const float *a, const float *b, float *c, float *work, int64_t m, int64_t n, int64_t k) {
    static const signed char left[7][2] = {{0, 3}, {2, 3}, {0, -1}, {3, -1}, {0, 1}, {2, 0}, {1, 3}};
    static const signed char right[7][2] = {{0, 3}, {0, -1}, {1, 3}, {2, 0}, {3, -1}, {0, 1}, {2, 3}};
    static const signed char sign_left[7] = {1, 1, 0, 0, 1, -1, -1}, sign_right[7] = {1, 0, -1, -1, 0, 1, 1};
    static const signed char into[7][4] = {{1, 0, 0, 1},  {0, 0, 1, -1}, {0, 1, 0, 1}, {1, 0, 1, 0},
                                           {-1, 1, 0, 0}, {0, 0, 0, 1},  {1, 0, 0, 0}};
    const int64_t hm = m / 2, hn = n / 2, hk = k / 2;
    const float *qa[4] = {a, a + hk, a + hm * k, a + hm * k + hk}, *qb[4] = {b, b + hn, b + hk * n, b + hk * n + hn};
    float *qc[4] = {c, c + hn, c + hm * n, c + hm * n + hn};
    float *x = work, *y = x + hm * hk, *p = y + hk * hn;
    memset(c, 0, (size_t)(m * n) * sizeof *c);
    for (int s = 0; s < 7; s++) {
        const float *l = qa[left[s][0]], *r = qb[right[s][0]];
        int64_t ldl = k, ldr = n;
        if (left[s][1] >= 0) {
            combine(x, hk, l, qa[left[s][1]], sign_left[s], k, hm, hk);
            l = x;
            ldl = hk;
        }
        if (right[s][1] >= 0) {
            combine(y, hn, r, qb[right[s][1]], sign_right[s], n, hk, hn);
            r = y;
            ldr = hn;
        }
        product(l, ldl, r, ldr, p, hn, hm, hn, hk);
        for (int q = 0; q < 4; q++)
            if (into[s][q])
                for (int64_t i = 0; i < hm; i++)
                    for (int64_t j = 0; j < hn; j++) qc[q][i * n + j] += into[s][q] * p[i * hn + j];
    }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float *wide = malloc((size_t)(2 * (m * k + k * n + m * n) + 1) * sizeof *wide);
    if (!wide) return 1;
    float *wide_b = wide + m * k, *sum = wide_b + k * n, *work = sum + m * n;
    for (int64_t i = 0; i < m * k; i++) wide[i] = tokitai_load(*call, a, i);
    for (int64_t i = 0; i < k * n; i++) wide_b[i] = tokitai_load(*call, b, i);
    if ((m | n | k) % 32 == 0 && m >= 64 && n >= 64 && k >= 64) strassen(wide, wide_b, sum, work, m, n, k);
    else product(wide, k, wide_b, n, sum, n, m, n, k);
    for (int64_t i = 0; i < m * n; i++) tokitai_store(*call, c, i, sum[i]);
    free(wide);
    return 0;
}
