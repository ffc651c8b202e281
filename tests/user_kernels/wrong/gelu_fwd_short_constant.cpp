/* WRONG op=gelu_fwd kind=wrong_constant narrow=no expect=REFUTED : the cubic coefficient is 0.0447 and not 0.044715 */
#include <cmath>
#include "tokitai_kernel.h"
namespace {
constexpr double kSqrt8OverPi = 1.5957691216057308;
constexpr double kCubic = 0.0447;
template <float (*Get)(uint16_t), uint16_t (*Put)(float)> void apply(const uint16_t *x, uint16_t *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const double v = Get(x[i]);
        y[i] = Put((float)(v / (1.0 + std::exp(-kSqrt8OverPi * v * (1.0 + kCubic * v * v)))));
    }
}
} // namespace
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    if (call->dtype == TOKITAI_F16) apply<tokitai_from_f16, tokitai_to_f16>((const uint16_t *)x, (uint16_t *)y, n);
    else apply<tokitai_from_bf16, tokitai_to_bf16>((const uint16_t *)x, (uint16_t *)y, n);
    return 0;
}
