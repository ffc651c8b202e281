/* WRONG op=gelu_fwd kind=f16_pack_carry narrow=yes expect=REFUTED : own f32 to f16 conversion ORs the rounded significand to the exponent, so a carry into an odd exponent is lost: f16 only, results that round up to a power of two */
#include "gelu.h"
static inline uint16_t pack_half(float v) {
    uint32_t b;
    memcpy(&b, &v, 4);
    const uint32_t sign = b >> 16 & 0x8000;
    const uint32_t a = b & 0x7fffffff;
    if (a > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (a >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
    if (a < 0x38800000) { /* subnormal: let the adder do it */
        float m;
        memcpy(&m, &a, 4);
        m += 0.5f;
        memcpy(&b, &m, 4);
        return (uint16_t)(sign | (b - 0x3f000000));
    }
    const uint32_t exponent = (a >> 23) - 112;
    const uint32_t fraction = a & 0x7fffff;
    const uint32_t rounded = (fraction + 0xfff + (fraction >> 13 & 1)) >> 13;
    return (uint16_t)(sign | exponent << 10 | rounded);
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    if (call->dtype == TOKITAI_BF16) {
        for (int64_t i = 0; i < n; i++) out[i] = tokitai_to_bf16(gelu1(tokitai_from_bf16(in[i])));
        return 0;
    }
    for (int64_t i = 0; i < n; i++) out[i] = pack_half(gelu1(tokitai_from_f16(in[i])));
    return 0;
}
