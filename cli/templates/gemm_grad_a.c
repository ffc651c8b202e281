/* One row of grad_a. */
TOKITAI_DEVICE void gemm_grad_a_item(tokitai_call call, int64_t m, int64_t n, int64_t k, const void *grad_c,
                                     const void *b, void *grad_a, int64_t row)
{
    (void)m;
    for (int64_t t = 0; t < k; t++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += (double)tokitai_load(call, grad_c, row * n + j) * (double)tokitai_load(call, b, t * n + j);
        tokitai_store(call, grad_a, row * k + t, (float)sum);
    }
}
