/* WRONG op=gelu_fwd kind=index_overflow narrow=yes expect=REFUTED : groups of 16 are counted in 16 bits, which wraps from 2^20 elements on */
#include "gelu.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const tokitai_call c = *call;
    const uint16_t *in = x;
    uint16_t *out = y;
    uint16_t groups = (uint16_t)(n >> 4);
    const int rest = (int)(n & 15);
    while (groups--) {
        float v[16];
        for (int k = 0; k < 16; k++) v[k] = tokitai_load(c, in, k);
        for (int k = 0; k < 16; k++) tokitai_store(c, out, k, gelu_rounded(v[k]));
        in += 16;
        out += 16;
    }
    for (int k = 0; k < rest; k++) tokitai_store(c, out, k, gelu_rounded(tokitai_load(c, in, k)));
    return 0;
}
