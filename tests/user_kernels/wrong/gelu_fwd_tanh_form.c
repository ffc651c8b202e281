/* WRONG op=gelu_fwd kind=cancellation_in_1_tanh expect=REFUTED : cancellation in 1 + tanh(z); x below about -3, both types */
#include "kernel.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        tokitai_store(*call, y, i, 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))));
    }
    return 0;
}
