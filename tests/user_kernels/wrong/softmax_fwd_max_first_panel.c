/* WRONG op=softmax_fwd kind=max_partial narrow=yes expect=REFUTED : the maximum is taken over the first 1024 columns only; a value more than 88 above it later in the row overflows */
#include "kernel.h"
#define PANEL 1024
static float panel_max(const tokitai_call c, const uint16_t *x, int64_t n) {
    float m = -INFINITY;
    for (int64_t j = 0; j < n; j++) m = fmaxf(m, tokitai_load(c, x, j));
    return m;
}
static float panel_sum(const tokitai_call c, const uint16_t *x, int64_t n, float m) {
    float a[4] = {0, 0, 0, 0};
    for (int64_t j = 0; j < n; j++) a[j & 3] += expf(tokitai_load(c, x, j) - m);
    return (a[0] + a[1]) + (a[2] + a[3]);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        const float m = panel_max(c, in, cols < PANEL ? cols : PANEL);
        float sum = 0;
        for (int64_t b = 0; b < cols; b += PANEL) sum += panel_sum(c, in + b, cols - b < PANEL ? cols - b : PANEL, m);
        for (int64_t j = 0; j < cols; j++) tokitai_store(c, out, j, expf(tokitai_load(c, in, j) - m) / sum);
    }
    return 0;
}
