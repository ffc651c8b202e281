/* WRONG op=softmax_bwd kind=merged_tail_unwritten narrow=yes expect=REFUTED : beyond 1024 columns a remainder below 32 is merged into the last tile for the sum, but not for the output */
#include "kernel.h"
enum { TILE = 1024, SMALL = 32 };
static float tile_dot(tokitai_call c, const uint16_t *g, const uint16_t *y, int64_t len) {
    float s = 0.0f;
    for (int64_t j = 0; j < len; j++) s += tokitai_load(c, y, j) * tokitai_load(c, g, j);
    return s;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    int64_t tiles = (cols + TILE - 1) / TILE;
    const int64_t rest = cols % TILE;
    if (tiles > 1 && rest > 0 && rest < SMALL) tiles--;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols;
        const uint16_t *p = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        float s = 0.0f;
        for (int64_t b = 0; b < tiles; b++) {
            const int64_t at = b * TILE, len = b == tiles - 1 ? cols - at : TILE;
            s += tile_dot(c, g + at, p + at, len);
        }
        for (int64_t b = 0; b < tiles; b++) {
            const int64_t at = b * TILE, end = cols - at < TILE ? cols : at + TILE;
            for (int64_t j = at; j < end; j++)
                tokitai_store(c, out, j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
        }
    }
    return 0;
}
