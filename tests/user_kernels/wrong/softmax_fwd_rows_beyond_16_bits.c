/* WRONG op=softmax_fwd kind=many_rows narrow=yes expect=REFUTED : the row's number is kept in 16 bits for the maximum's place: rows beyond 65535 of two to four columns use the maximum of another row, which overflows or vanishes */
#include "elements.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    float *tops = malloc((size_t)(rows < 65536 ? rows + 1 : 65536) * sizeof *tops);
    if (!tops) return 1;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t at = (uint16_t)r;
        float top = -INFINITY;
        double sum = 0;
        for (int64_t c = 0; c < cols; c++) {
            const float v = tokitai_load(*call, x, r * cols + c);
            if (!(v <= top)) top = v;
            if (isnan(v)) break;
        }
        if (r < 65536) tops[at] = top;
        for (int64_t c = 0; c < cols; c++) sum += exp((double)tokitai_load(*call, x, r * cols + c) - top);
        for (int64_t c = 0; c < cols; c++)
            tokitai_store(*call, y, r * cols + c,
                          (float)(exp((double)tokitai_load(*call, x, r * cols + c) - tops[at]) / sum));
    }
    free(tops);
    return 0;
}
