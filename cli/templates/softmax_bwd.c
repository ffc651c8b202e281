/* One row. */
TOKITAI_DEVICE void softmax_bwd_item(tokitai_call call, int64_t rows, int64_t cols, const void *grad_output,
                                     const void *y, void *grad_input, int64_t row)
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
