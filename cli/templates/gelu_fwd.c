/* One element. In double, so that one rounding is all that counts. */
TOKITAI_DEVICE void gelu_fwd_item(tokitai_call call, int64_t n, const void *x, void *y, int64_t i)
{
    const double v = (double)tokitai_load(call, x, i);
    const double two_z = 2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v);
    (void)n;
    tokitai_store(call, y, i, (float)(v / (1 + exp(-two_z))));
}
