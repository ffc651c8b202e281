/* WRONG op=softmax_fwd kind=approximate_reciprocal narrow=no expect=REFUTED : the sum is inverted by the 12-bit estimate of the hardware without a Newton step */
#include "kernel.h"
#if defined(__SSE__)
#include <xmmintrin.h>
#endif
static float invert(float s) {
#if defined(__SSE__)
    return _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(s)));
#else
    union tokitai_float f;
    f.value = s;
    f.bits = 0x7ef311c7u - f.bits;
    f.value *= 2.0f - s * f.value;
    return f.value * (2.0f - s * f.value);
#endif
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float top = -INFINITY, sum = 0.0f;
        for (int64_t j = 0; j < cols; j++) top = fmaxf(top, tokitai_load(*call, in, j));
        for (int64_t j = 0; j < cols; j++) sum += expf(tokitai_load(*call, in, j) - top);
        const float scale = invert(sum);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, out, j, expf(tokitai_load(*call, in, j) - top) * scale);
    }
    return 0;
}
