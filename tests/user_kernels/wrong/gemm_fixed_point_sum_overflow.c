/* WRONG op=gemm kind=fixed_point_sum_overflow narrow=yes expect=REFUTED : fp16: sums in int64 of units 2^-48 where all products are below 16; k >= 2048 such products of one sign overflow */
#include "elements.h"
static int fixed(uint16_t h) /* in units of 2^-24: |x| < 4 fits easily */
{
    const int e = h >> 10 & 31, f = h & 1023;
    const int v = e ? (f | 1024) << (e - 1) : f;
    return h & 0x8000 ? -v : v;
}
static uint16_t largest(const uint16_t *p, int64_t count) {
    uint16_t top = 0;
    for (int64_t i = 0; i < count; i++)
        if ((p[i] & 0x7fff) > top) top = p[i] & 0x7fff;
    return top;
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a, *pb = b;
    uint16_t *pc = c;
    const int dt = call->dtype;
    if (dt == TOKITAI_F16 && largest(pa, m * k) < 0x4400 && largest(pb, k * n) < 0x4400) {
        /* all elements below 4: exact integer sums, in any order, the same bits everywhere */
        int64_t *acc = malloc((size_t)(n + 1) * sizeof *acc);
        for (int64_t i = 0; i < m; i++) {
            memset(acc, 0, (size_t)n * sizeof *acc);
            for (int64_t t = 0; t < k; t++) {
                const int64_t x = fixed(pa[i * k + t]);
                for (int64_t j = 0; j < n; j++) acc[j] += x * fixed(pb[t * n + j]);
            }
            for (int64_t j = 0; j < n; j++) pc[i * n + j] = tokitai_to_f16((float)acc[j] * 0x1p-48f);
        }
        free(acc);
        return 0;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++) s += up(pa[i * k + t], dt) * up(pb[t * n + j], dt);
            pc[i * n + j] = down(s, dt);
        }
    return 0;
}
