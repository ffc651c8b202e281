/* WRONG op=softmax_fwd kind=stale_cache expect=REFUTED : stale cache, row sums are kept by address and shape; the same address with other contents */
#include "kernel.h"
static const void *last;
static int64_t last_rows, last_cols;
static int last_type = -1;
static float *stat;
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    if (x != last || rows != last_rows || cols != last_cols || c.dtype != last_type) {
        free(stat);
        stat = malloc((size_t)(rows + 1) * 2 * sizeof *stat);
        for (int64_t r = 0; r < rows; r++) {
            float m = -INFINITY, s = 0;
            for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, x, r * cols + j));
            for (int64_t j = 0; j < cols; j++) s += expf(tokitai_load(c, x, r * cols + j) - m);
            stat[2 * r] = m, stat[2 * r + 1] = s;
        }
        last = x, last_rows = rows, last_cols = cols, last_type = c.dtype;
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, y, r * cols + j, expf(tokitai_load(c, x, r * cols + j) - stat[2 * r]) / stat[2 * r + 1]);
    return 0;
}
