/* WRONG op=softmax_bwd kind=size_fast_path narrow=yes expect=REFUTED : where cols is a multiple of 96 tiles of six vectors of 16 are used, and the sum of the sixth is left out */
#include "kernel.h"
typedef float v16 __attribute__((vector_size(64)));
static inline void madd16(const tokitai_call *c, const uint16_t *g, const uint16_t *y, v16 *acc) {
    for (int k = 0; k < 16; k++) (*acc)[k] += tokitai_load(*c, g, k) * tokitai_load(*c, y, k);
}
static float dot96(const tokitai_call *c, const uint16_t *g, const uint16_t *y, int64_t n) {
    v16 a[6] = {{0}};
    for (int64_t j = 0; j < n; j += 96)
        for (int t = 0; t < 6; t++) madd16(c, g + j + 16 * t, y + j + 16 * t, &a[t]);
    const v16 s = (a[0] + a[1]) + (a[2] + a[3]) + a[4];
    float total = 0;
    for (int k = 0; k < 16; k++) total += s[k];
    return total;
}
static float dot(const tokitai_call *c, const uint16_t *g, const uint16_t *y, int64_t n) {
    v16 a = {0};
    int64_t j = 0;
    for (; j + 16 <= n; j += 16) madd16(c, g + j, y + j, &a);
    float total = 0;
    for (int k = 0; k < 16; k++) total += a[k];
    for (; j < n; j++) total += tokitai_load(*c, g, j) * tokitai_load(*c, y, j);
    return total;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *v = (const uint16_t *)y + r * cols;
        const float s = cols > 0 && cols % 96 == 0 ? dot96(&c, g, v, cols) : dot(&c, g, v, cols);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, (uint16_t *)grad_input + r * cols, j,
                          tokitai_load(c, v, j) * (tokitai_load(c, g, j) - s));
    }
    return 0;
}
