/* WRONG op=gelu_fwd kind=approximation_x_sigmoid expect=REFUTED : approximation x sigmoid(1.702 x) in the vectorised body, right in the tail; n >= 16 */
#include "gelu.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        float v[16];
        for (int k = 0; k < 16; k++) v[k] = tokitai_load(*call, x, i + k);
        for (int k = 0; k < 16; k++) v[k] = v[k] / (1 + expf(-1.702f * v[k]));
        for (int k = 0; k < 16; k++) tokitai_store(*call, y, i + k, v[k]);
    }
    for (; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        tokitai_store(*call, y, i, v * sigma2z(v, 0));
    }
    return 0;
}
