/* UNTRUSTED. What `tokitai new-kernel` writes: plain and correct. ITEM(op, i) becomes the head of the function that computes the i-th row of the last
 * output, or its i-th matrix where that has three axes. */

/* One row of c. */
ITEM(gemm, row)
{
    (void)m;
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t t = 0; t < k; t++)
            sum += (double)tokitai_load(call, a, row * k + t) * (double)tokitai_load(call, b, t * n + j);
        tokitai_store_result(call, c, row * n + j, tokitai_saturated(call.result_dtype, (float)sum));
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
        tokitai_store_result(call, grad_a, row * k + t, tokitai_saturated(call.result_dtype, (float)sum));
    }
}

/* One row of grad_b. */
ITEM(gemm_grad_b, row)
{
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < m; i++)
            sum += (double)tokitai_load(call, a, i * k + row) * (double)tokitai_load(call, grad_c, i * n + j);
        tokitai_store_result(call, grad_b, row * n + j, tokitai_saturated(call.result_dtype, (float)sum));
    }
}

/* One row of y, and of pre: epilogue is 0 for bias, 1 for bias_gelu, 2 for gelu, 3 for bias_residual, 4 for residual, 5 for none. */
ITEM(linear_fwd, row)
{
    const int has_bias = epilogue == 0 || epilogue == 1 || epilogue == 3;
    (void)m;
    for (int64_t j = 0; j < n; j++) {
        const int64_t at = row * n + j;
        double v = has_bias ? (double)tokitai_load(call, bias, j) : 0;
        if (epilogue == 3 || epilogue == 4)
            v += (double)tokitai_load_as(call.result_dtype, residual, at);
        for (int64_t t = 0; t < k; t++)
            v += (double)tokitai_load(call, x, row * k + t) * (double)tokitai_load(call, w, j * k + t);
        if (epilogue == 1 || epilogue == 2) {
            tokitai_store_result(call, pre, at, tokitai_saturated(call.result_dtype, (float)v));
            v /= 1 + exp(-2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v));
        }
        tokitai_store_result(call, y, at, tokitai_saturated(call.result_dtype, (float)v));
    }
}

/* One row of grad_x: epilogue is 0 for none, 1 for gelu. Beyond +-20 the derivative of gelu is 0 or 1. */
ITEM(linear_grad_x, row)
{
    (void)m;
    for (int64_t t = 0; t < k; t++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += (double)tokitai_load(call, grad_y, row * n + j) * (double)tokitai_load(call, w, j * k + t);
        if (epilogue == 1) {
            const double c = 0.79788456080286535588, a = 0.044715;
            const double v = (double)tokitai_load_as(call.result_dtype, pre, row * k + t);
            const double e = exp(-2 * c * (v + a * v * v * v));
            const double inside = (1 + 2 * c * v * (1 + 3 * a * v * v) * e / (1 + e)) / (1 + e);
            sum *= v > 20 ? 1 : v < -20 ? 0 : inside;
        }
        tokitai_store_result(call, grad_x, row * k + t, tokitai_saturated(call.result_dtype, (float)sum));
    }
}

/* One row of grad_w: accumulate is 0 for no, 1 for yes. */
ITEM(linear_grad_w, row)
{
    (void)n;
    for (int64_t t = 0; t < k; t++) {
        double sum = accumulate ? (double)tokitai_load_as(call.result_dtype, before, row * k + t) : 0;
        for (int64_t i = 0; i < m; i++)
            sum += (double)tokitai_load(call, grad_y, i * n + row) * (double)tokitai_load(call, x, i * k + t);
        tokitai_store_result(call, grad_w, row * k + t, tokitai_saturated(call.result_dtype, (float)sum));
    }
}

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
