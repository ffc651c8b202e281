/* WRONG op=softmax_fwd kind=nan_lost_in_tail narrow=yes expect=REFUTED : the single last element of an odd row passes a comparison that turns NaN into weight 0, so the row is not NaN */
#include "kernel.h"
static float tail_weight(float d) { return d > -104.0f ? expf(d) : 0.0f; }
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float top = -INFINITY;
        for (int64_t j = 0; j < cols; j++) top = fmaxf(top, tokitai_load(c, in, j));
        if (isinf(top)) top = NAN;
        float even = 0.0f, odd = 0.0f;
        for (int64_t j = 0; j + 1 < cols; j += 2) {
            even += expf(tokitai_load(c, in, j) - top);
            odd += expf(tokitai_load(c, in, j + 1) - top);
        }
        float last = 0.0f;
        if (cols & 1)
            last = cols > 1 && top == top ? tail_weight(tokitai_load(c, in, cols - 1) - top)
                                          : expf(tokitai_load(c, in, cols - 1) - top);
        const float sum = even + odd + last;
        for (int64_t j = 0; j + 1 < cols; j += 2) {
            tokitai_store(c, out, j, expf(tokitai_load(c, in, j) - top) / sum);
            tokitai_store(c, out, j + 1, expf(tokitai_load(c, in, j + 1) - top) / sum);
        }
        if (cols & 1) tokitai_store(c, out, cols - 1, last / sum);
    }
    return 0;
}
