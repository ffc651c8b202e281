/* UNTRUSTED. What `tokitai new-kernel` writes: plain and correct. ITEM(op, i) becomes the head of the function that computes the i-th row of the last
 * output, or its i-th element where that has one axis. */

/* One element. In double, so that one rounding is all that counts. */
ITEM(gelu_fwd, i)
{
    const double v = (double)tokitai_load(call, x, i);
    const double two_z = 2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v);
    (void)n;
    tokitai_store(call, y, i, (float)(v / (1 + exp(-two_z))));
}

/* One element. In double, so that one rounding is all that counts. */
ITEM(gelu_bwd, i)
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
