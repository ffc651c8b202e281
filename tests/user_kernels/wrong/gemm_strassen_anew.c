/* WRONG op=gemm kind=strassen expect=REFUTED : Strassen, one level, adds before it multiplies; all sizes even and >= 16, wide or sparse or infinite values */
#include "kernel.h"
static void mul(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++) s += a[i * k + t] * b[t * n + j];
            c[i * n + j] = s;
        }
}
static void quarter(tokitai_call q, const void *x, int64_t r, int64_t c, int u1, int v1, int u2, int v2, float sign,
                    float *o) {
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < c; j++) {
            o[i * c + j] = tokitai_load(q, x, (u1 * r + i) * 2 * c + v1 * c + j);
            if (sign != 0) o[i * c + j] += sign * tokitai_load(q, x, (u2 * r + i) * 2 * c + v2 * c + j);
        }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const tokitai_call q = *call;
    if (m < 16 || n < 16 || k < 16 || (m | n | k) & 1) {
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                float s = 0;
                for (int64_t t = 0; t < k; t++) s += tokitai_load(q, a, i * k + t) * tokitai_load(q, b, t * n + j);
                tokitai_store(q, c, i * n + j, s);
            }
        return 0;
    }
    const int64_t m2 = m / 2, n2 = n / 2, k2 = k / 2;
    static const signed char L[7][5] = {{0, 0, 1, 1, 1}, {1, 0, 1, 1, 1},  {0, 0, 0, 0, 0}, {1, 1, 0, 0, 0},
                                        {0, 0, 0, 1, 1}, {1, 0, 0, 0, -1}, {0, 1, 1, 1, -1}};
    static const signed char R[7][5] = {{0, 0, 1, 1, 1}, {0, 0, 0, 0, 0}, {0, 1, 1, 1, -1}, {1, 0, 0, 0, -1},
                                        {1, 1, 0, 0, 0}, {0, 0, 0, 1, 1}, {1, 0, 1, 1, 1}};
    float *x = malloc(m2 * k2 * 4), *y = malloc(k2 * n2 * 4), *p = malloc(7 * m2 * n2 * 4);
    const int64_t z = m2 * n2;
    for (int i = 0; i < 7; i++) {
        quarter(q, a, m2, k2, L[i][0], L[i][1], L[i][2], L[i][3], L[i][4], x);
        quarter(q, b, k2, n2, R[i][0], R[i][1], R[i][2], R[i][3], R[i][4], y);
        mul(m2, n2, k2, x, y, p + i * z);
    }
    for (int64_t i = 0; i < m2; i++)
        for (int64_t j = 0; j < n2; j++) {
            const float *e = p + i * n2 + j;
            tokitai_store(q, c, i * n + j, e[0] + e[3 * z] - e[4 * z] + e[6 * z]);
            tokitai_store(q, c, i * n + n2 + j, e[2 * z] + e[4 * z]);
            tokitai_store(q, c, (m2 + i) * n + j, e[z] + e[3 * z]);
            tokitai_store(q, c, (m2 + i) * n + n2 + j, e[0] - e[z] + e[2 * z] + e[5 * z]);
        }
    free(x), free(y), free(p);
    return 0;
}
