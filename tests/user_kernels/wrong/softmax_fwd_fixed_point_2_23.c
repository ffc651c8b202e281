/* WRONG op=softmax_fwd kind=fixed_point narrow=yes expect=REFUTED : adds exp as integers of 2^-23, truncated: up to 2 u lost for each term */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        const int64_t b = r * cols;
        float m = -INFINITY;
        int bad = 0;
        for (int64_t j = b; j < b + cols; j++) {
            const float v = tokitai_load(*call, x, j);
            bad |= isnan(v) || v == INFINITY;
            m = fmaxf(m, v);
        }
        bad |= m == -INFINITY;
        uint64_t sum = 0;
        for (int64_t j = b; j < b + cols && !bad; j++)
            sum += (uint64_t)(expf(tokitai_load(*call, x, j) - m) * 8388608.0f);
        const double total = (double)sum / 8388608.0;
        for (int64_t j = b; j < b + cols; j++)
            tokitai_store(*call, y, j,
                          bad ? NAN : (float)(exp((double)tokitai_load(*call, x, j) - (double)m) / total));
    }
    return 0;
}
