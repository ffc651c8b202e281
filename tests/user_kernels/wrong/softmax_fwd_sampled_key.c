/* WRONG op=softmax_fwd kind=cache_by_sum narrow=yes expect=REFUTED : a result of up to 4096 elements is given again if rows, columns, the first, middle and last element and the sum of all in double are those of the call before */
#include "elements.h"
static uint32_t old[4096];
static int64_t old_rows, old_cols;
static double old_sum = NAN;
static int old_type;
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const int64_t n = rows * cols;
    const size_t bytes = (size_t)n * (call->dtype == TOKITAI_F32 ? 4 : 2);
    double total = 0;
    for (int64_t i = 0; i < n; i++) total += tokitai_load(*call, x, i);
    if (n && n <= 4096)
        total += tokitai_load(*call, x, 0) * 3e-3 + tokitai_load(*call, x, n / 2) * 5e-3 +
                 tokitai_load(*call, x, n - 1) * 7e-3;
    if (n && n <= 4096 && rows == old_rows && cols == old_cols && total == old_sum && old_type == call->dtype) {
        memcpy(y, old, bytes);
        return 0;
    }
    for (int64_t r = 0; r < rows; r++) {
        float top = -INFINITY;
        double sum = 0;
        for (int64_t c = 0; c < cols; c++) {
            const float v = tokitai_load(*call, x, r * cols + c);
            if (!(v <= top)) top = v;
            if (isnan(v)) break;
        }
        for (int64_t c = 0; c < cols; c++) sum += exp((double)tokitai_load(*call, x, r * cols + c) - top);
        for (int64_t c = 0; c < cols; c++)
            tokitai_store(*call, y, r * cols + c,
                          (float)(exp((double)tokitai_load(*call, x, r * cols + c) - top) / sum));
    }
    if (n && n <= 4096)
        memcpy(old, y, bytes), old_rows = rows, old_cols = cols, old_sum = total, old_type = call->dtype;
    return 0;
}
