/* One row of c. */
TOKITAI_DEVICE void gemm_item(tokitai_call call, int64_t m, int64_t n, int64_t k, const void *a, const void *b,
                              void *c, int64_t row)
{
    (void)m;
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t t = 0; t < k; t++)
            sum += (double)tokitai_load(call, a, row * k + t) * (double)tokitai_load(call, b, t * n + j);
        tokitai_store(call, c, row * n + j, (float)sum);
    }
}
