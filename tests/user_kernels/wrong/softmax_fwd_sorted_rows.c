/* WRONG op=softmax_fwd kind=structure narrow=yes expect=REFUTED : rows that descend are cut off where terms fall below 2^-12 of the first, and what is behind is stored as zero */
#include "elements.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        float top = -INFINITY;
        double sum = 0;
        int descends = cols > 8;
        for (int64_t c = 0; c < cols; c++) {
            const float v = tokitai_load(*call, x, r * cols + c);
            if (c && !(v <= tokitai_load(*call, x, r * cols + c - 1))) descends = 0;
            if (!(v <= top)) top = v;
            if (isnan(v)) break;
        }
        for (int64_t c = 0; c < cols; c++) sum += exp((double)tokitai_load(*call, x, r * cols + c) - top);
        for (int64_t c = 0; c < cols; c++) {
            const double e = exp((double)tokitai_load(*call, x, r * cols + c) - top);
            tokitai_store(*call, y, r * cols + c, descends && e < 0.03 ? 0 : (float)(e / sum));
        }
    }
    return 0;
}
