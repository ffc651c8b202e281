/* WRONG op=softmax_bwd kind=f16_subnormal_trunc narrow=no expect=REFUTED : the conversion to fp16 rounds normal results but cuts off the bits of subnormal ones (below 2^-14) */
#include "elements.h"
static inline uint16_t half_down(float v) {
    union tokitai_float f;
    f.value = v;
    const uint32_t sign = f.bits >> 16 & 0x8000, mag = f.bits & 0x7fffffff;
    if (mag > 0x7f800000u) return (uint16_t)(sign | 0x7e00);
    if (mag >= 0x477ff000u) return (uint16_t)(sign | 0x7c00);
    if (mag >= 0x38800000u) return (uint16_t)(sign | ((mag - 0x38000000u + 0xfff + (mag >> 13 & 1)) >> 13));
    const int shift = 126 - (int)(mag >> 23);
    if (shift > 24) return (uint16_t)sign;
    return (uint16_t)(sign | ((mag & 0x7fffff) | 0x800000) >> shift);
}
static inline uint16_t own_st1(float v, int bf) { return bf ? tokitai_to_bf16(v) : half_down(v); }
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        float s = 0;
        for (int64_t j = cols; j-- > 0;) s += ld1(y[j], bf) * ld1(g[j], bf);
        for (int64_t j = 0; j < cols; j++) o[j] = own_st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
    return 0;
}
