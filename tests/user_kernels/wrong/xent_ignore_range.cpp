/* WRONG op=xent kind=ignore_semantics narrow=yes expect=REFUTED : a row is ignored when its target lies outside [0, cols), by one unsigned comparison, so that an ignore_index inside [0, cols) is trained as a class */
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>
#include <tokitai_kernel.h>
namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
struct kernel {
    const tokitai_call &call;
    int64_t cols;
    std::vector<double> e;
    kernel(const tokitai_call &c, int64_t n) : call(c), cols(n), e(n) {}
    float row(const uint16_t *x, int64_t t, uint16_t *g) {
        const double eps = call.label_smoothing, off = eps / double(cols), alpha = call.scale;
        double max = -inf, sum_d = 0, rest = 0;
        bool bad = false;
        for (int64_t j = 0; j < cols; j++) {
            e[j] = tokitai_load(call, x, j);
            bad |= !(e[j] < inf);
            max = std::max(max, e[j]);
        }
        if (bad || max == -inf) {
            for (int64_t j = 0; j < cols; j++) tokitai_store(call, g, j, std::nanf(""));
            return std::nanf("");
        }
        const double dt = max - e[t];
        for (int64_t j = 0; j < cols; j++) {
            sum_d += max - e[j];
            e[j] = std::exp(e[j] - max);
            rest += j == t ? 0 : e[j];
        }
        const double z = rest + e[t];
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(call, g, j, float(alpha * (j == t ? eps - off - rest / z : e[j] / z - off)));
        return float(std::log(z) + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
    }
};
} // namespace
extern "C" int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits,
                            const void *target, float *loss, void *grad_logits) {
    kernel k(*call, cols);
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = tokitai_load_index(*call, target, r);
        uint16_t *g = static_cast<uint16_t *>(grad_logits) + r * cols;
        if (uint64_t(t) >= uint64_t(cols)) {
            loss[r] = 0;
            std::fill(g, g + cols, uint16_t(0));
        } else {
            loss[r] = k.row(static_cast<const uint16_t *>(logits) + r * cols, t, g);
        }
    }
    return 0;
}
