/* WRONG op=gelu_fwd kind=early_saturation expect=REFUTED : early saturation, 0 below -6; bf16, x from about -13 to -6 */
#include "gelu.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        float r;
        if (v >= 6) r = v;
        else if (v <= -6) r = -0.0f;
        else r = v * sigma2z(v, 0);
        tokitai_store(*call, y, i, r);
    }
    return 0;
}
