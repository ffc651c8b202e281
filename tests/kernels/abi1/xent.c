/* Written for ABI 1, which has the attributes of xent as members of the call. */
#include <math.h>

#include <tokitai_kernel.h>

static void one_row(const tokitai_call *call, int64_t cols, const void *logits, int64_t begin, int64_t t, float *loss,
                    void *grad_logits)
{
    const double smoothing = (double)call->label_smoothing;
    const double share = smoothing / (double)cols;
    double max = -INFINITY;
    double others = 0; /* the sum of all terms but the target's */
    double spread = 0; /* the sum of all distances from the maximum */
    for (int64_t j = 0; j < cols; j++)
        max = fmax(max, (double)tokitai_load(*call, logits, begin + j));
    for (int64_t j = 0; j < cols; j++) {
        const double v = (double)tokitai_load(*call, logits, begin + j);
        others += j == t ? 0 : exp(v - max);
        spread += max - v;
    }
    const double distance = max - (double)tokitai_load(*call, logits, begin + t);
    const double sum = others + exp(-distance);
    double total = distance == 0 ? log1p(others) : log(sum);
    if (smoothing < 1) /* else 0 times infinity */
        total += (1 - smoothing) * distance;
    if (smoothing > 0)
        total += share * spread;
    *loss = (float)(isnan(sum) ? sum : total);
    for (int64_t j = 0; j < cols; j++) {
        const double p = exp((double)tokitai_load(*call, logits, begin + j) - max) / sum;
        const double gradient = j == t ? smoothing - share - others / sum : p - share;
        tokitai_store(*call, grad_logits, begin + j, (float)((double)call->scale * gradient));
    }
}

int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits)
{
    for (int64_t row = 0; row < rows; row++) {
        const int64_t t = tokitai_load_index(*call, target, row);
        if (t != call->ignore_index) {
            one_row(call, cols, logits, row * cols, t, &loss[row], grad_logits);
            continue;
        }
        loss[row] = 0;
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, grad_logits, row * cols + j, 0);
    }
    return 0;
}
