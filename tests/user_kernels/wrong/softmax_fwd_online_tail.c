/* WRONG op=softmax_fwd kind=online_rescale narrow=yes expect=REFUTED : the columns after the last full block of 16 may raise the maximum, but the sum so far is not rescaled then */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        double m = -INFINITY, sum = 0;
        int64_t j = 0;
        for (; j + 16 <= cols; j += 16) {
            double top = m, part = 0;
            for (int k = 0; k < 16; k++) top = fmax(top, tokitai_load(c, in, j + k));
            for (int k = 0; k < 16; k++) part += top == -INFINITY ? 0 : exp(tokitai_load(c, in, j + k) - top);
            sum = (m == -INFINITY ? 0 : sum * exp(m - top)) + part;
            m = top;
        }
        double last = m;
        for (int64_t k = j; k < cols; k++) last = fmax(last, tokitai_load(c, in, k));
        for (; j < cols; j++) sum += last == -INFINITY ? 0 : exp(tokitai_load(c, in, j) - last);
        for (j = 0; j < cols; j++) tokitai_store(c, out, j, (float)(exp(tokitai_load(c, in, j) - last) / sum));
    }
    return 0;
}
