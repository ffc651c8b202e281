/* RIGHT op=linear_fwd kind=gelu expect=HELD : gelu by tanh where that does not cancel */
#include "linear.h"
static float gelu(float v) {
    const float z = 0.79788456f * fmaf(0.044715f * v * v, v, v);
    return v < -0.5f ? v / (1 + expf(-2 * z)) : 0.5f * v * (1 + tanhf(z));
}
#define THROUGH_GELU                      \
    if (has_gelu) {                       \
        tokitai_store_as(rt, pre, at, s); \
        s = gelu(s);                      \
    }
#include "linear_fwd_floats.h"
