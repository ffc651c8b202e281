/* WRONG op=softmax_fwd kind=tree_drops_odd_partial narrow=yes expect=REFUTED : cols a multiple of 256: the partial sums are folded by halving, which drops one whenever their number is odd and above 1 */
#include "kernel.h"
static float blocked_sum(tokitai_call c, const uint16_t *in, float top, float *part, int64_t blocks) {
    for (int64_t b = 0; b < blocks; b++) {
        float s = 0.0f;
        for (int64_t j = 0; j < 256; j++) s += expf(tokitai_load(c, in, b * 256 + j) - top);
        part[b] = s;
    }
    for (int64_t half = blocks / 2; half > 0; half /= 2)
        for (int64_t i = 0; i < half; i++) part[i] += part[i + half];
    return part[0];
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    float *part = malloc((size_t)(cols / 256 + 1) * sizeof *part);
    if (!part) return 1;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float top = -INFINITY, sum = 0.0f;
        for (int64_t j = 0; j < cols; j++) top = fmaxf(top, tokitai_load(c, in, j));
        if (cols > 0 && cols % 256 == 0) sum = blocked_sum(c, in, top, part, cols / 256);
        else
            for (int64_t j = 0; j < cols; j++) sum += expf(tokitai_load(c, in, j) - top);
        for (int64_t j = 0; j < cols; j++) tokitai_store(c, out, j, expf(tokitai_load(c, in, j) - top) / sum);
    }
    free(part);
    return 0;
}
