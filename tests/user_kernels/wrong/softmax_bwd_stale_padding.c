/* WRONG op=softmax_bwd kind=stale_padding narrow=yes expect=REFUTED : partial sums of 512 columns are kept in a static array and folded as a tree over the next power of two, but the padding is zero only until a longer row has been there: wrong for a shorter row after a longer one if its number of blocks is no power of two */
#include "elements.h"
static _Thread_local float *part;
static _Thread_local int64_t part_cap;
static int64_t pow2(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    enum { BLOCK = 512 };
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    const int64_t blocks = (cols + BLOCK - 1) / BLOCK, padded = pow2(blocks ? blocks : 1);
    if (padded > part_cap) {
        free(part);
        part = calloc((size_t)padded, sizeof *part);
        part_cap = part ? padded : 0;
        if (!part) return 1;
    }
    float *tree = malloc((size_t)padded * sizeof *tree);
    if (!tree) return 1;
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t end = (b + 1) * BLOCK < cols ? (b + 1) * BLOCK : cols;
            float s = 0;
            for (int64_t j = b * BLOCK; j < end; j++) s += ld1(y[j], bf) * ld1(g[j], bf);
            part[b] = s;
        }
        memcpy(tree, part, (size_t)padded * sizeof *tree);
        for (int64_t w = padded / 2; w >= 1; w /= 2)
            for (int64_t b = 0; b < w; b++) tree[b] += tree[b + w];
        const float s = tree[0];
        for (int64_t j = 0; j < cols; j++) o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
    free(tree);
    return 0;
}
