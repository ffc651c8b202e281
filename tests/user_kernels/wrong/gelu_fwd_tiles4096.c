/* WRONG op=gelu_fwd kind=size_fast_path narrow=yes expect=REFUTED : the last tile of 4096 is left to the tail code, which does n % 4096 elements and so none where n is a multiple of 4096 */
#include "gelu.h"
#define TILE 4096
static void tile(const tokitai_call c, const uint16_t *x, uint16_t *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) tokitai_store(c, y, i, gelu_rounded(tokitai_load(c, x, i)));
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    const int64_t tiles = (n + TILE - 1) / TILE;
    for (int64_t t = 0; t + 1 < tiles; t++) {
        __builtin_prefetch(in + (t + 1) * TILE);
        tile(*call, in + t * TILE, out + t * TILE, TILE);
    }
    if (tiles > 0) /* the last one is ragged */
        tile(*call, in + (tiles - 1) * TILE, out + (tiles - 1) * TILE, n % TILE);
    return 0;
}
