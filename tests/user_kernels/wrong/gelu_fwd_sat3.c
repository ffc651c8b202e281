/* WRONG op=gelu_fwd kind=early_saturation narrow=no expect=REFUTED : for |x| > 3 it answers x or 0, where the exact value still differs by several ulp */
#include "kernel.h"
static float gelu(float x) {
    if (x > 3.0f) return x;
    if (x < -3.0f) return isinf(x) ? 0.0f : -0.0f;
    const float z2 = 1.5957691216f * (x + 0.044715f * x * x * x);
    return x / (1.0f + expf(-z2));
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t i = 0; i < n; i++) tokitai_store(c, y, i, gelu(tokitai_load(c, x, i)));
    return 0;
}
