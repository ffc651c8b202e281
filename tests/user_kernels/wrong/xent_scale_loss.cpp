/* WRONG op=xent kind=scale_misapplied narrow=no expect=REFUTED : the scale is folded into one factor for the row and multiplies the loss as well as the gradient, wrong whenever scale is not 1 */
#include <cmath>
#include <cstring>
#include <limits>
#include <tokitai_kernel.h>
namespace {
const double inf = std::numeric_limits<double>::infinity();
template <float (*from)(uint16_t), uint16_t (*to)(float)>
float row(double eps, double factor, int64_t cols, const uint16_t *x, int64_t t, uint16_t *g) {
    double max = -inf, rest = 0, sum_d = 0;
    bool bad = false;
    for (int64_t j = 0; j < cols; j++) {
        const double v = from(x[j]);
        bad |= !(v < inf);
        max = v > max ? v : max;
    }
    bad |= max == -inf;
    const double off = eps / double(cols), dt = max - from(x[t]);
    for (int64_t j = 0; j < cols; j++) {
        const double d = max - from(x[j]);
        sum_d += d;
        rest += j == t ? 0 : std::exp(-d);
    }
    const double z = rest + std::exp(-dt), scaled = factor / z;
    for (int64_t j = 0; j < cols; j++) {
        const double v = j == t ? factor * (eps - off) - scaled * rest
                                : std::exp(from(x[j]) - max) * scaled - factor * off;
        g[j] = to(bad ? std::nanf("") : float(v));
    }
    double l = std::log(z);
    if (eps > 0) l += off * sum_d;
    if (eps < 1) l += (1 - eps) * dt;
    return bad ? std::nanf("") : float(factor * l);
}
} // namespace
extern "C" int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits,
                            const void *target, float *loss, void *grad_logits) {
    const uint16_t *x = static_cast<const uint16_t *>(logits);
    uint16_t *g = static_cast<uint16_t *>(grad_logits);
    const auto f = call->dtype == TOKITAI_F16 ? row<tokitai_from_f16, tokitai_to_f16>
                                              : row<tokitai_from_bf16, tokitai_to_bf16>;
    for (int64_t r = 0; r < rows; r++, x += cols, g += cols) {
        const int64_t t = tokitai_load_index(*call, target, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            for (int64_t j = 0; j < cols; j++) g[j] = 0;
        } else {
            loss[r] = f(call->label_smoothing, call->scale, cols, x, t, g);
        }
    }
    return 0;
}
