/* WRONG op=softmax_fwd kind=one_shape narrow=yes expect=REFUTED : 2048 rows of 768 elements have an instance of their own, whose last vector is scaled by the sum of the row before */
#include "elements.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const int instance = rows == 2048 && cols == 768;
    double before = 1;
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
                          (float)(exp((double)tokitai_load(*call, x, r * cols + c) - top) /
                                  (instance && c >= cols - 16 ? before : sum)));
        before = sum;
    }
    return 0;
}
