/* WRONG op=softmax_bwd kind=magic_f16_inf narrow=yes expect=REFUTED : fp16 is widened by a shift and one multiplication with 2^112, which takes infinities and NaN for numbers from 65536 on; fp16 only, rows with inf or NaN only */
#include "elements.h"
static inline float half_up(uint16_t h) {
    union tokitai_float f;
    f.bits = (uint32_t)(h & 0x7fff) << 13;
    f.value *= 0x1p112f; /* subnormals come out right too */
    f.bits |= (uint32_t)(h & 0x8000) << 16;
    return f.value;
}
static inline float own_ld1(uint16_t p, int bf) { return bf ? tokitai_from_bf16(p) : half_up(p); }
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        float s[8] = {0};
        for (int64_t j = 0; j < cols; j++) s[j & 7] += own_ld1(y[j], bf) * own_ld1(g[j], bf);
        const float t = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
        for (int64_t j = 0; j < cols; j++) o[j] = st1(own_ld1(y[j], bf) * (own_ld1(g[j], bf) - t), bf);
    }
    return 0;
}
