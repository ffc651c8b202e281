/* One row of grad_b. */
TOKITAI_DEVICE void gemm_grad_b_item(tokitai_call call, int64_t m, int64_t n, int64_t k, const void *grad_c,
                                     const void *a, void *grad_b, int64_t row)
{
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < m; i++)
            sum += (double)tokitai_load(call, a, i * k + row) * (double)tokitai_load(call, grad_c, i * n + j);
        tokitai_store(call, grad_b, row * n + j, (float)sum);
    }
}
