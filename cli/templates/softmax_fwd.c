/* One row. A NaN in the row, +inf or nothing but -inf makes every term NaN by itself: inf - inf. */
TOKITAI_DEVICE void softmax_fwd_item(tokitai_call call, int64_t rows, int64_t cols, const void *x, void *y,
                                     int64_t row)
{
    const int64_t begin = row * cols;
    double max = -INFINITY;
    double sum = 0;
    (void)rows;
    for (int64_t j = begin; j < begin + cols; j++)
        max = fmax(max, (double)tokitai_load(call, x, j));
    for (int64_t j = begin; j < begin + cols; j++)
        sum += exp((double)tokitai_load(call, x, j) - max);
    for (int64_t j = begin; j < begin + cols; j++)
        tokitai_store(call, y, j, (float)(exp((double)tokitai_load(call, x, j) - max) / sum));
}
