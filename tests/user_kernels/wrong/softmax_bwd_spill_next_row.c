/* WRONG op=softmax_bwd kind=spill_next_row narrow=no expect=REFUTED : every row but the very last is written in whole vectors, as the next row puts right what they spill; the last row of one thread spills into the first row of the next thread, which may be done already (threads > 1, cols % 8 != 0) */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
#include "threads.h"
struct args {
    const uint16_t *g, *y;
    uint16_t *o;
    int64_t rows, cols;
    int bf;
};
static void rows_fn(void *p, int64_t lo, int64_t hi) {
    const struct args *a = p;
    const int bf = a->bf;
    const int64_t n = a->cols, full = n & ~(int64_t)7;
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *g = a->g + r * n, *y = a->y + r * n;
        uint16_t *o = a->o + r * n;
        __m256 acc = _mm256_setzero_ps();
        float s = 0;
        int64_t j;
        for (j = 0; j < full; j += 8) acc = _mm256_fmadd_ps(ld8(g + j, bf), ld8(y + j, bf), acc);
        for (; j < n; j++) s += ld1(g[j], bf) * ld1(y[j], bf);
        s += hsum(acc);
        const __m256 sv = _mm256_set1_ps(s);
        for (j = 0; j < full; j += 8)
            st8(o + j, _mm256_mul_ps(ld8(y + j, bf), _mm256_sub_ps(ld8(g + j, bf), sv)), bf);
        if (j < n && (a->rows - 1 - r) * n >= 8) /* room for a whole vector */
            st8(o + j, _mm256_mul_ps(ld8(y + j, bf), _mm256_sub_ps(ld8(g + j, bf), sv)), bf);
        else
            for (; j < n; j++) o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *g, const void *y, void *o) {
    struct args a = {g, y, o, rows, cols, call->dtype == TOKITAI_BF16};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
