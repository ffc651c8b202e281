/* WRONG op=gelu_fwd kind=an_intermediate expect=REFUTED : an intermediate (z) kept in 16 bits; both types */
#include "kernel.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    uint16_t z[64];
    for (int64_t i = 0; i < n; i += 64) {
        const int64_t w = n - i < 64 ? n - i : 64;
        for (int64_t k = 0; k < w; k++) {
            const float v = tokitai_load(*call, x, i + k);
            tokitai_store(*call, z, k, -1.5957691216f * (v + 0.044715f * v * v * v));
        }
        for (int64_t k = 0; k < w; k++)
            tokitai_store(*call, y, i + k, tokitai_load(*call, x, i + k) / (1 + expf(tokitai_load(*call, z, k))));
    }
    return 0;
}
