/* UNTRUSTED. What `tokitai new-kernel` writes: plain and correct. ITEM(op, i) becomes the head of the function that computes the i-th row of the last
 * output, or its i-th element where that has one axis. */

/* One row. Where p is near 1 the target's gradient is made of the other terms, since p - 1 would cancel. grad_logits may be
 * the buffer of logits: each logit is read for the last time before its gradient is written. */
ITEM(xent, row)
{
    const int64_t begin = row * cols;
    const int64_t t = tokitai_load_index(call, target, row);
    const double smoothing = (double)call.label_smoothing;
    const double share = smoothing / (double)cols;
    double max = -INFINITY;
    double others = 0; /* the sum of all terms but the target's */
    double spread = 0; /* the sum of all distances from the maximum */
    (void)rows;
    if (t == call.ignore_index) {
        loss[row] = 0;
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(call, grad_logits, begin + j, 0);
        return;
    }
    for (int64_t j = 0; j < cols; j++)
        max = fmax(max, (double)tokitai_load(call, logits, begin + j));
    for (int64_t j = 0; j < cols; j++) {
        const double v = (double)tokitai_load(call, logits, begin + j);
        others += j == t ? 0 : exp(v - max);
        spread += max - v;
    }
    const double distance = max - (double)tokitai_load(call, logits, begin + t);
    const double sum = others + exp(-distance);
    double total = distance == 0 ? log1p(others) : log(sum);
    if (smoothing < 1) /* else 0 times infinity */
        total += (1 - smoothing) * distance;
    if (smoothing > 0)
        total += share * spread;
    loss[row] = (float)(isnan(sum) ? sum : total);
    for (int64_t j = 0; j < cols; j++) {
        const double p = exp((double)tokitai_load(call, logits, begin + j) - max) / sum;
        const double gradient = j == t ? smoothing - share - others / sum : p - share;
        tokitai_store(call, grad_logits, begin + j, (float)((double)call.scale * gradient));
    }
}
