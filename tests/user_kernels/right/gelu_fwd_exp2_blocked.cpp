/* RIGHT op=gelu_fwd kind=exp2_double expect=HELD : templates over the type, blocks of 128 in double, sigmoid through exp2 */
#include <cmath>
#include "tokitai_kernel.h"
namespace {
template <bool F16> float get(uint16_t p) { return F16 ? tokitai_from_f16(p) : tokitai_from_bf16(p); }
template <bool F16> uint16_t put(double v) { return F16 ? tokitai_to_f16((float)v) : tokitai_to_bf16((float)v); }
/* exp(-2z) = exp2(-x (K0 + K1 x^2)) */
constexpr double K0 = 1.5957691216057308 * 1.4426950408889634;
constexpr double K1 = K0 * 0.044715;
template <bool F16> void block(const uint16_t *x, uint16_t *y, int64_t n) {
    double v[128], e[128];
    for (int64_t i = 0; i < n; i++) {
        v[i] = get<F16>(x[i]);
        e[i] = -v[i] * (K0 + K1 * v[i] * v[i]);
    }
    for (int64_t i = 0; i < n; i++) e[i] = std::exp2(e[i]);
    for (int64_t i = 0; i < n; i++) y[i] = put<F16>(v[i] / (1.0 + e[i]));
}
template <bool F16> void all(const uint16_t *x, uint16_t *y, int64_t n) {
    for (int64_t i = 0; i < n; i += 128) block<F16>(x + i, y + i, n - i < 128 ? n - i : 128);
}
} // namespace
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    if (call->dtype == TOKITAI_F16) all<true>((const uint16_t *)x, (uint16_t *)y, n);
    else all<false>((const uint16_t *)x, (uint16_t *)y, n);
    return 0;
}
