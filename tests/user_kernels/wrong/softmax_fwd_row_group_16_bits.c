/* WRONG op=softmax_fwd kind=index_width narrow=yes expect=REFUTED : groups of four rows have a number of 16 bits: behind 262144 rows nothing is written */
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
enum { GROUP = 4 };
static void group(const tokitai_call *call, const void *x, void *y, int64_t rows, int64_t cols, uint16_t number) {
    for (int64_t r = (int64_t)number * GROUP; r < rows && r < ((int64_t)number + 1) * GROUP; r++)
        row_of(call, x, y, r * cols, cols);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t g = 0; g < (rows + GROUP - 1) / GROUP; g++) group(call, x, y, rows, cols, g);
    return 0;
}
