/* WRONG op=gelu_fwd kind=rounding_mode_of_the_store expect=REFUTED : rounding mode of the store, bf16 is cut off; bf16 */
#include "gelu.h"
static inline void put(int f16, uint16_t *p, float v) {
    union tokitai_float f = {v};
    *p = f16 ? tokitai_to_f16(v) : (uint16_t)(f.bits >> 16) | (v != v ? 0x40 : 0);
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const int f16 = call->dtype == TOKITAI_F16;
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        put(f16, (uint16_t *)y + i, v * sigma2z(v, 0));
    }
    return 0;
}
