/* WRONG op=softmax_fwd kind=cutoff narrow=yes dtype=f16 expect=REFUTED : a maximum that is more than 17 above all others makes a one-hot row; up to 17.3 the others are 2^-24 in fp16, not 0 */
#include <math.h>
#include <tokitai_kernel.h>
static void row_of(const tokitai_call *call, const void *x, void *y, int64_t begin, int64_t cols) {
    double max = -INFINITY, sum = 0;
    for (int64_t j = begin; j < begin + cols; j++)
        max = fmax(max, (double)tokitai_load(*call, x, j)); /* a NaN comes back in the sum */
    for (int64_t j = begin; j < begin + cols; j++) sum += exp((double)tokitai_load(*call, x, j) - max);
    for (int64_t j = begin; j < begin + cols; j++)
        tokitai_store(*call, y, j, (float)(exp((double)tokitai_load(*call, x, j) - max) / sum));
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        const int64_t begin = r * cols, end = begin + cols;
        float first = -INFINITY, second = -INFINITY;
        int odd = 0;
        int64_t at = begin;
        for (int64_t j = begin; j < end; j++) {
            const float v = tokitai_load(*call, x, j);
            odd |= !(fabsf(v) < INFINITY);
            if (v > first) {
                second = first;
                first = v;
                at = j;
            } else if (v > second) second = v;
        }
        if (!odd && cols > 1 && first - second > 17.0f)
            for (int64_t j = begin; j < end; j++) tokitai_store(*call, y, j, j == at ? 1.0f : 0.0f);
        else row_of(call, x, y, begin, cols);
    }
    return 0;
}
