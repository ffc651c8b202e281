/* WRONG op=gelu_fwd kind=tanh_cancellation narrow=no expect=REFUTED : 1 + tanhf(z) in fp32 cancels, so that results for x below about -3 have few good bits or are 0 */
#include "kernel.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const tokitai_call c = *call;
    float v[64], t[64];
    for (int64_t b = 0; b < n; b += 64) {
        const int64_t m = n - b < 64 ? n - b : 64;
        for (int64_t i = 0; i < m; i++) {
            v[i] = tokitai_load(c, x, b + i);
            t[i] = 0.79788456f * (v[i] + 0.044715f * v[i] * v[i] * v[i]);
        }
        for (int64_t i = 0; i < m; i++) t[i] = tanhf(t[i]);
        for (int64_t i = 0; i < m; i++) tokitai_store(c, y, b + i, 0.5f * v[i] * (1.0f + t[i]));
    }
    return 0;
}
