/* WRONG op=gelu_fwd kind=peel_not_clamped narrow=yes expect=REFUTED : peeling the output up to 64 bytes is not limited to n, so that a short misaligned output is overrun */
#include "kernel.h"
static inline uint16_t one(tokitai_call c, const uint16_t *x, int64_t i) {
    const double v = tokitai_load(c, x, i);
    const double e = exp(-1.5957691216057308 * v * (1.0 + 0.044715 * v * v));
    uint16_t out;
    tokitai_store(c, &out, 0, (float)(v / (1.0 + e)));
    return out;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const tokitai_call c = *call;
    const uint16_t *in = x;
    uint16_t *out = y;
    if (n <= 0) return 0;
    const int64_t peel = (int64_t)(-(uintptr_t)out & 63) / 2;
    int64_t i = 0;
    for (; i < peel; i++) out[i] = one(c, in, i < n ? i : n - 1);
    for (; i + 32 <= n; i += 32)
        for (int l = 0; l < 32; l++) out[i + l] = one(c, in, i + l);
    for (; i < n; i++) out[i] = one(c, in, i);
    return 0;
}
