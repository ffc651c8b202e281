/* WRONG op=softmax_fwd kind=lazy_table_dtype narrow=yes expect=REFUTED : the table that turns a 16-bit pattern into a float is filled once per process, for the dtype of the first call with rows of 32 and more: a call with the other dtype afterwards reads the wrong table */
#include <pthread.h>
#include "elements.h"
static float widen[65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int fill_bf;
static void fill(void) {
    for (int i = 0; i < 65536; i++) widen[i] = ld1((uint16_t)i, fill_bf);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *xv, void *yv) {
    const uint16_t *x = xv;
    uint16_t *y = yv;
    const int bf = call->dtype == TOKITAI_BF16;
    if (cols >= 32) {
        fill_bf = bf;
        pthread_once(&once, fill);
    }
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float m = -INFINITY, s = 0;
        if (cols >= 32) {
            for (int64_t j = 0; j < cols; j++) m = fmaxf(m, widen[x[j]]);
            for (int64_t j = 0; j < cols; j++) s += expf(widen[x[j]] - m);
            for (int64_t j = 0; j < cols; j++) y[j] = st1(expf(widen[x[j]] - m) / s, bf);
        } else {
            for (int64_t j = 0; j < cols; j++) m = fmaxf(m, ld1(x[j], bf));
            for (int64_t j = 0; j < cols; j++) s += expf(ld1(x[j], bf) - m);
            for (int64_t j = 0; j < cols; j++) y[j] = st1(expf(ld1(x[j], bf) - m) / s, bf);
        }
    }
    return 0;
}
