/* WRONG op=gemm kind=strassen_square narrow=yes expect=REFUTED : one step of Strassen where m == n == k >= 256 is a multiple of 64: small blocks lose their digits beside a large one */
#include "elements.h"
/* c += / = a b on fp32 blocks */
static void block(int64_t s, const float *a, const float *b, float *c) {
    memset(c, 0, (size_t)(s * s) * sizeof(float));
    for (int64_t i = 0; i < s; i++)
        for (int64_t t = 0; t < s; t++) {
            const float x = a[i * s + t];
            for (int64_t j = 0; j < s; j++) c[i * s + j] += x * b[t * s + j];
        }
}
static void take(int64_t s, const float *x, int64_t ld, int q, const float *y, int q2, float sign, float *out) {
    const float *p = x + (q >> 1) * s * ld + (q & 1) * s, *r = y ? y + (q2 >> 1) * s * ld + (q2 & 1) * s : 0;
    for (int64_t i = 0; i < s; i++)
        for (int64_t j = 0; j < s; j++) out[i * s + j] = p[i * ld + j] + (r ? sign * r[i * ld + j] : 0.0f);
}
static void add(int64_t s, float *c, int64_t ld, int q, const float *p, float sign) {
    float *d = c + (q >> 1) * s * ld + (q & 1) * s;
    for (int64_t i = 0; i < s; i++)
        for (int64_t j = 0; j < s; j++) d[i * ld + j] += sign * p[i * s + j];
}
static void strassen(int64_t n, const float *a, const float *b, float *c) {
    const int64_t s = n / 2;
    float *x = malloc((size_t)(3 * s * s) * sizeof(float)), *y = x + s * s, *p = y + s * s;
    memset(c, 0, (size_t)(n * n) * sizeof(float));
    take(s, a, n, 0, a, 3, 1, x);
    take(s, b, n, 0, b, 3, 1, y);
    block(s, x, y, p);
    add(s, c, n, 0, p, 1);
    add(s, c, n, 3, p, 1);
    take(s, a, n, 2, a, 3, 1, x);
    take(s, b, n, 0, 0, 0, 0, y);
    block(s, x, y, p);
    add(s, c, n, 2, p, 1);
    add(s, c, n, 3, p, -1);
    take(s, a, n, 0, 0, 0, 0, x);
    take(s, b, n, 1, b, 3, -1, y);
    block(s, x, y, p);
    add(s, c, n, 1, p, 1);
    add(s, c, n, 3, p, 1);
    take(s, a, n, 3, 0, 0, 0, x);
    take(s, b, n, 2, b, 0, -1, y);
    block(s, x, y, p);
    add(s, c, n, 0, p, 1);
    add(s, c, n, 2, p, 1);
    take(s, a, n, 0, a, 1, 1, x);
    take(s, b, n, 3, 0, 0, 0, y);
    block(s, x, y, p);
    add(s, c, n, 0, p, -1);
    add(s, c, n, 1, p, 1);
    take(s, a, n, 2, a, 0, -1, x);
    take(s, b, n, 0, b, 1, 1, y);
    block(s, x, y, p);
    add(s, c, n, 3, p, 1);
    take(s, a, n, 1, a, 3, -1, x);
    take(s, b, n, 2, b, 3, 1, y);
    block(s, x, y, p);
    add(s, c, n, 0, p, 1);
    free(x);
}
static int all_finite(const float *x, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!(x[i] - x[i] == 0)) return 0;
    return 1;
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const int dt = call->dtype;
    const uint16_t *pa = a, *pb = b;
    float *fa = malloc((size_t)(m * k + k * n + m * n + 1) * sizeof(float)), *fb = fa + m * k, *fc = fb + k * n;
    for (int64_t i = 0; i < m * k; i++) fa[i] = up(pa[i], dt);
    for (int64_t i = 0; i < k * n; i++) fb[i] = up(pb[i], dt);
    if (m == n && n == k && n >= 256 && n % 64 == 0 && all_finite(fa, m * k + k * n)) {
        strassen(n, fa, fb, fc);
    } else {
        memset(fc, 0, (size_t)(m * n) * sizeof(float));
        for (int64_t i = 0; i < m; i++)
            for (int64_t t = 0; t < k; t++)
                for (int64_t j = 0; j < n; j++) fc[i * n + j] += fa[i * k + t] * fb[t * n + j];
    }
    for (int64_t i = 0; i < m * n; i++) ((uint16_t *)c)[i] = down(fc[i], dt);
    free(fa);
    return 0;
}
