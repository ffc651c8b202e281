/* RIGHT op=softmax_fwd kind=maximum_and_sum_in_one_pass expect=HELD : maximum and sum in one pass, rescaled as the maximum grows */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(*call, x, r * cols + j);
            if (v > m) {
                s = m == -INFINITY ? s + 1 : s * expf(m - v) + 1; /* s is 0, or NaN for good */
                m = v;
            } else if (v != -INFINITY) s += expf(v - m); /* a NaN or +inf makes it NaN */
        }
        if (m == INFINITY) s = NAN;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(*call, x, r * cols + j);
            tokitai_store(*call, y, r * cols + j, s == 0 ? NAN : expf(v - m) / s);
        }
    }
    return 0;
}
