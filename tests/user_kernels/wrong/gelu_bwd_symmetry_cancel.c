/* WRONG op=gelu_bwd kind=symmetry_cancel narrow=no expect=REFUTED : takes the slope of negative x as 1 minus that of -x, in fp32, which cancels from about x = -2 down */
#include "gelu.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    /* the slope has a centre of symmetry at (0, 1/2), so half the range is enough */
    for (int64_t i = 0; i < n; i++) {
        const float g = tokitai_load(*call, grad_output, i), v = tokitai_load(*call, x, i);
        float d = slope1(fabsf(v));
        if (v < 0.0f) d = 1.0f - d;
        tokitai_store(*call, grad_input, i, g * d);
    }
    return 0;
}
