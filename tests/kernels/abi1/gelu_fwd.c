/* Written for ABI 1: 16-bit types only, no members behind call->stream. */
#include <math.h>

#include <tokitai_kernel.h>

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    if (call->abi < TOKITAI_KERNEL_ABI || (call->dtype != TOKITAI_F16 && call->dtype != TOKITAI_BF16))
        return 1;
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        const float bounded = v > 15 ? 15 : v < -15 ? -15 : v;
        const float two_z = 1.5957691216f * (bounded + 0.044715f * bounded * bounded * bounded);
        const float e = expf(-fabsf(two_z));
        tokitai_store(*call, y, i, v * (two_z > 0 ? 1 / (1 + e) : e / (1 + e)));
    }
    return 0;
}
