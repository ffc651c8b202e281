/* WRONG op=gelu_bwd kind=wrong_constant narrow=no expect=REFUTED : three times the cubic coefficient was written as 0.1341 and not 0.134145 */
#include <algorithm>
#include <cmath>
#include "tokitai_kernel.h"
namespace {
constexpr double kA = 0.044715, kThreeA = 0.1341, kC2 = 1.5957691216057308;
inline double slope(float v) {
    if (v == -INFINITY || v != v) return NAN;
    const double x = std::clamp((double)v, -40.0, 40.0);
    const double t = kC2 * x * (1.0 + kA * x * x);
    const double sigma = 1.0 / (1.0 + std::exp(-t)), other = 1.0 / (1.0 + std::exp(t));
    return sigma * (1.0 + other * kC2 * x * (1.0 + kThreeA * x * x));
}
} // namespace
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t i = 0; i < n; i++)
        tokitai_store(c, grad_input, i, (float)(slope(tokitai_load(c, x, i)) * tokitai_load(c, grad_output, i)));
    return 0;
}
