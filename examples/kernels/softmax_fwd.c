/* softmax_fwd with the sum taken pairwise rather than from left to right: other bits than ours, within the same bound. */
#include <math.h>

#include <tokitai_kernel.h>

static float sum_of(tokitai_call call, const void *x, int64_t begin, int64_t end, float max)
{
    if (end - begin > 8) {
        const int64_t middle = begin + (end - begin) / 2;
        return sum_of(call, x, begin, middle, max) + sum_of(call, x, middle, end, max);
    }
    float sum = 0;
    for (int64_t j = begin; j < end; j++)
        sum += expf(tokitai_load(call, x, j) - max);
    return sum;
}

int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    for (int64_t row = 0; row < rows; row++) {
        const int64_t begin = row * cols;
        float max = -INFINITY;
        for (int64_t j = begin; j < begin + cols; j++)
            max = fmaxf(max, tokitai_load(*call, x, j)); /* leaves a NaN out; the sum does not */
        const float sum = sum_of(*call, x, begin, begin + cols, max);
        for (int64_t j = begin; j < begin + cols; j++)
            tokitai_store(*call, y, j, expf(tokitai_load(*call, x, j) - max) / sum);
    }
    return 0;
}
