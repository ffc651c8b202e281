/* WRONG op=gemm kind=int_byte_offset narrow=yes expect=HELD : the byte offset of a row is an int: from 2^31 bytes of a on rows are read from before the array */
#include "elements.h"
static __attribute__((noinline)) const uint16_t *row(const void *base, int i, int pitch) {
    return (const uint16_t *)((const char *)base + i * pitch);
}
static float dot(const uint16_t *x, const uint16_t *y, int64_t step, int64_t k, int dt) {
    float s0 = 0, s1 = 0;
    int64_t t = 0;
    for (; t + 2 <= k; t += 2) {
        s0 += up(x[t], dt) * up(y[t * step], dt);
        s1 += up(x[t + 1], dt) * up(y[(t + 1) * step], dt);
    }
    if (t < k) s0 += up(x[t], dt) * up(y[t * step], dt);
    return s0 + s1;
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    uint16_t *pc = c;
    const int pitch = (int)k * 2;
    for (int i = 0; i < m; i++) {
        const uint16_t *ar = row(a, i, pitch);
        for (int64_t j = 0; j < n; j++)
            pc[(int64_t)i * n + j] = down(dot(ar, (const uint16_t *)b + j, n, k, call->dtype), call->dtype);
    }
    return 0;
}
