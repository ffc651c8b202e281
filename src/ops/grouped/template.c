/* What `tokitai new-kernel` writes: plain and correct. ITEM(op, i) becomes the head of the function that computes the i-th row of the last
 * output, or its i-th matrix where that has three axes. */

/* One row of c, by the matrix of the group that it is in. */
ITEM(grouped_gemm, row)
{
    int64_t group = 0;
    (void)m;
    while (group < g && tokitai_load_index(call, ends, group) <= row)
        group++;
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t t = 0; group < g && t < k; t++)
            sum += (double)tokitai_load(call, a, row * k + t) *
                   (double)tokitai_load(call, b, (group * k + t) * n + j);
        tokitai_store_result(call, c, row * n + j, (float)sum);
    }
}

/* One row of grad_a, by the matrix of the group that it is in. */
ITEM(grouped_gemm_grad_a, row)
{
    int64_t group = 0;
    (void)m;
    while (group < g && tokitai_load_index(call, ends, group) <= row)
        group++;
    for (int64_t t = 0; t < k; t++) {
        double sum = 0;
        for (int64_t j = 0; group < g && j < n; j++)
            sum += (double)tokitai_load(call, grad_c, row * n + j) *
                   (double)tokitai_load(call, b, (group * k + t) * n + j);
        tokitai_store_result(call, grad_a, row * k + t, (float)sum);
    }
}

/* The matrix of one group. */
ITEM(grouped_gemm_grad_b, group)
{
    const int64_t begin = group ? tokitai_load_index(call, ends, group - 1) : 0;
    const int64_t end = tokitai_load_index(call, ends, group);
    (void)m;
    (void)g;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t i = begin; i < end; i++)
                sum += (double)tokitai_load(call, a, i * k + t) * (double)tokitai_load(call, grad_c, i * n + j);
            tokitai_store_result(call, grad_b, (group * k + t) * n + j, (float)sum);
        }
}
