/* WRONG op=gelu_fwd kind=intermediate_rounded_to_dtype narrow=no expect=REFUTED : the inner argument is rounded to the storage type before the exponential */
#include "kernel.h"
static float through_storage(const tokitai_call *call, float v) {
    return call->dtype == TOKITAI_F16 ? tokitai_from_f16(tokitai_to_f16(v)) : tokitai_from_bf16(tokitai_to_bf16(v));
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        const float z = through_storage(call, 0.7978845608f * v * (1.0f + 0.044715f * v * v));
        tokitai_store(*call, y, i, v / (1.0f + expf(-2.0f * z)));
    }
    return 0;
}
