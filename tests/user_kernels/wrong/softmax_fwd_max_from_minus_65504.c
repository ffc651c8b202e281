/* WRONG op=softmax_fwd kind=the_maximum_starts_from_the_lowest_numbe expect=REFUTED : the maximum starts from the lowest number of fp16; bf16 rows with nothing above -65504 */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        float m = -65504.0f, s = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, x, r * cols + j));
        for (int64_t j = 0; j < cols; j++) s += expf(tokitai_load(c, x, r * cols + j) - m);
        const float inv = 1 / s;
        for (int64_t j = 0; j < cols; j++) {
            const float e = expf(tokitai_load(c, x, r * cols + j) - m);
            tokitai_store(c, y, r * cols + j, e * inv);
        }
    }
    return 0;
}
