/* WRONG op=gelu_fwd kind=fp32_count narrow=yes expect=REFUTED : the number of blocks of 256 by ceilf((float)n / 256) */
#include "kernel.h"
static float gelu1(float v) {
    const float b = v > 15 ? 15 : v < -15 ? -15 : v;
    const float z2 = 1.5957691216f * (b + 0.044715f * b * b * b);
    const float e = expf(-fabsf(z2));
    return v * (z2 > 0 ? 1 / (1 + e) : e / (1 + e));
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const int64_t blocks = (int64_t)ceilf((float)n / 256);
    for (int64_t k = 0; k < blocks; k++)
        for (int64_t i = k * 256; i < n && i < (k + 1) * 256; i++)
            tokitai_store(*call, y, i, gelu1(tokitai_load(*call, x, i)));
    return 0;
}
