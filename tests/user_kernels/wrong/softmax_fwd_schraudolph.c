/* WRONG op=softmax_fwd kind=exponential_by_bits_of_an_integer expect=REFUTED : exponential by bits of an integer, 3 % off; everywhere */
#include "kernel.h"
static inline float fast_exp(float v) {
    union tokitai_float f;
    if (!(v == v)) return v;
    if (v < -87) return 0;
    f.bits = (uint32_t)(int32_t)(12102203.0f * v + 1064866805.0f);
    return f.value;
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(*call, x, r * cols + j));
        for (int64_t j = 0; j < cols; j++) s += fast_exp(tokitai_load(*call, x, r * cols + j) - m);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, y, r * cols + j, fast_exp(tokitai_load(*call, x, r * cols + j) - m) / s);
    }
    return 0;
}
