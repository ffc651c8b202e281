/* WRONG op=gelu_fwd kind=output_already_right narrow=yes expect=REFUTED : where the first and last eight elements of y already are what they shall be, the call is taken for a repeated one and nothing is done */
#include "elements.h"
static float gelu_of(float x) {
    const double v = x;
    return (float)(v / (1 + exp(-2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v))));
}
static float gelu(float v) { return isnan(v) ? v : v == -INFINITY ? -0.0f : gelu_of(v); }
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const size_t size = call->dtype == TOKITAI_F32 ? 4 : 2;
    int right = n >= 64;
    for (int64_t i = 0; i < n && right; i++) {
        unsigned char one[4];
        if (i == 8) i = n - 8;
        tokitai_store(*call, one, 0, gelu(tokitai_load(*call, x, i)));
        right = !memcmp(one, (const unsigned char *)y + (size_t)i * size, size);
    }
    for (int64_t i = 0; i < n && !right; i++) tokitai_store(*call, y, i, gelu(tokitai_load(*call, x, i)));
    return 0;
}
