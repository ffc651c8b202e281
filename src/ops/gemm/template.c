/* What `tokitai new-kernel` writes: plain and correct. ITEM(op, i) becomes the head of the function that computes the i-th row of the last
 * output, or its i-th element where that has one axis. */

/* One row of c. */
ITEM(gemm, row)
{
    (void)m;
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t t = 0; t < k; t++)
            sum += (double)tokitai_load(call, a, row * k + t) * (double)tokitai_load(call, b, t * n + j);
        tokitai_store_result(call, c, row * n + j, (float)sum);
    }
}

/* One row of grad_a. */
ITEM(gemm_grad_a, row)
{
    (void)m;
    for (int64_t t = 0; t < k; t++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += (double)tokitai_load(call, grad_c, row * n + j) * (double)tokitai_load(call, b, t * n + j);
        tokitai_store_result(call, grad_a, row * k + t, (float)sum);
    }
}

/* One row of grad_b. */
ITEM(gemm_grad_b, row)
{
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < m; i++)
            sum += (double)tokitai_load(call, a, i * k + row) * (double)tokitai_load(call, grad_c, i * n + j);
        tokitai_store_result(call, grad_b, row * n + j, (float)sum);
    }
}
