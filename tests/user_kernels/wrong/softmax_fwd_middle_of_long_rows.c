/* WRONG op=softmax_fwd kind=long_rows narrow=yes expect=REFUTED : in rows of more than 65536 elements the sum leaves out a block of 1024 before the middle, where two halves meet */
#include "elements.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        float top = -INFINITY;
        double sum = 0;
        for (int64_t c = 0; c < cols; c++) {
            const float v = tokitai_load(*call, x, r * cols + c);
            if (!(v <= top)) top = v;
            if (isnan(v)) break;
        }
        for (int64_t c = 0; c < cols; c++)
            if (!(cols >> 16 && c >= cols / 2 - 1024 && c < cols / 2))
                sum += exp((double)tokitai_load(*call, x, r * cols + c) - top);
        for (int64_t c = 0; c < cols; c++)
            tokitai_store(*call, y, r * cols + c,
                          (float)(exp((double)tokitai_load(*call, x, r * cols + c) - top) / sum));
    }
    return 0;
}
