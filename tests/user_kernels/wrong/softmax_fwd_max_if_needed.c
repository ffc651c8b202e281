/* WRONG op=softmax_fwd kind=missing_max_subtraction narrow=yes expect=REFUTED : the maximum is subtracted only where it is above 80, so that rows whose maximum is below about -80 underflow */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float m = -INFINITY, sum = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, in, j));
        const float shift = m > 80.0f ? m : 0.0f; /* no overflow below: save a subtraction's rounding */
        for (int64_t b = 0; b < cols; b += 64) {
            float part = 0;
            for (int64_t j = b; j < b + 64 && j < cols; j++) part += expf(tokitai_load(c, in, j) - shift);
            sum += part;
        }
        for (int64_t j = 0; j < cols; j++) tokitai_store(c, out, j, expf(tokitai_load(c, in, j) - shift) / sum);
    }
    return 0;
}
