/* One element. In double, so that one rounding is all that counts. */
TOKITAI_DEVICE void gelu_bwd_item(tokitai_call call, int64_t n, const void *grad_output, const void *x,
                                  void *grad_input, int64_t i)
{
    const double c = 0.79788456080286535588;
    const double a = 0.044715;
    const double v = (double)tokitai_load(call, x, i);
    const double e = exp(-fabs(2 * c * (v + a * v * v * v)));
    const double sigma = v > 0 ? 1 / (1 + e) : e / (1 + e);
    const double rest = v > 0 ? e / (1 + e) : 1 / (1 + e); /* 1 - sigma without cancellation */
    const double h = 2 * c * v * (1 + 3 * a * v * v);
    (void)n;
    tokitai_store(call, grad_input, i,
                  (float)((double)tokitai_load(call, grad_output, i) * (sigma * (1 + rest * h))));
}
