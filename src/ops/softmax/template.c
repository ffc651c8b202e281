/* UNTRUSTED. What `tokitai new-kernel` writes: plain and correct. ITEM(op, i) becomes the head of the function that computes the i-th row of the last
 * output, or its i-th element where that has one axis. */

/* One row. A NaN in the row, +inf or nothing but -inf makes every term NaN by itself: inf - inf. */
ITEM(softmax_fwd, row)
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

/* One row. */
ITEM(softmax_bwd, row)
{
    const int64_t begin = row * cols;
    double sum = 0;
    (void)rows;
    for (int64_t j = begin; j < begin + cols; j++)
        sum += (double)tokitai_load(call, y, j) * (double)tokitai_load(call, grad_output, j);
    for (int64_t j = begin; j < begin + cols; j++)
        tokitai_store(call, grad_input, j,
                      (float)((double)tokitai_load(call, y, j) * ((double)tokitai_load(call, grad_output, j) - sum)));
}
