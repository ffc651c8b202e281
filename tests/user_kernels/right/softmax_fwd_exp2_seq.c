/* RIGHT op=softmax_fwd kind=exp2_sequential expect=HELD : exp2f of the distance times log2(e), one sequential fp32 sum, recomputed exponentials, no scratch */
#include "kernel.h"
static inline float weight(float top, float x) { return exp2f((x - top) * 1.44269504088896340736f); }
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float top = -INFINITY;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, in, j);
            top = v > top ? v : top;
        }
        float sum = 0.0f;
        for (int64_t j = 0; j < cols; j++) sum += weight(top, tokitai_load(c, in, j));
        for (int64_t j = 0; j < cols; j++) tokitai_store(c, out, j, weight(top, tokitai_load(c, in, j)) / sum);
    }
    return 0;
}
