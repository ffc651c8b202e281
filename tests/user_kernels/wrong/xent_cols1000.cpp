/* WRONG op=xent kind=size_special narrow=yes expect=REFUTED : the class counts 1000, 1024 and 32000 have their own instances that sum whole groups of sixteen only; 1000 is no multiple of sixteen and loses its last eight columns */
#include <cmath>
#include <cstring>
#include <limits>
#include <tokitai_kernel.h>
namespace {
const double inf = std::numeric_limits<double>::infinity();
struct sums {
    double rest, sum_d;
};
/* N == 0: any number of columns */
template <int N> sums reduce(const tokitai_call &call, const uint16_t *x, int64_t cols, int64_t t, double max) {
    double e[16] = {0}, d[16] = {0};
    const int64_t n = N ? N / 16 : cols / 16;
    for (int64_t b = 0; b < n; b++)
        for (int k = 0; k < 16; k++) {
            const double v = max - tokitai_load(call, x, b * 16 + k);
            e[k] += b * 16 + k == t ? 0 : std::exp(-v);
            d[k] += v;
        }
    if (N == 0)
        for (int64_t j = n * 16; j < cols; j++) {
            const double v = max - tokitai_load(call, x, j);
            e[j & 15] += j == t ? 0 : std::exp(-v);
            d[j & 15] += v;
        }
    sums s = {0, 0};
    for (int k = 0; k < 16; k++) {
        s.rest += e[k];
        s.sum_d += d[k];
    }
    return s;
}
} // namespace
extern "C" int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits,
                            const void *target, float *loss, void *grad_logits) {
    const auto sum = cols == 1000    ? reduce<1000>
                     : cols == 1024  ? reduce<1024>
                     : cols == 32000 ? reduce<32000>
                                     : reduce<0>;
    const double eps = call->label_smoothing, off = eps / double(cols);
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = static_cast<const uint16_t *>(logits) + r * cols;
        uint16_t *g = static_cast<uint16_t *>(grad_logits) + r * cols;
        const int64_t t = tokitai_load_index(*call, target, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            std::memset(g, 0, size_t(cols) * 2);
            continue;
        }
        double max = -inf;
        bool bad = false;
        for (int64_t j = 0; j < cols; j++) {
            const double v = tokitai_load(*call, x, j);
            bad |= !(v < inf);
            max = v > max ? v : max;
        }
        bad |= max == -inf;
        const sums s = sum(*call, x, cols, t, max);
        const double dt = max - tokitai_load(*call, x, t), z = s.rest + std::exp(-dt);
        loss[r] = bad ? std::nanf("")
                      : float(std::log(z) + (eps > 0 ? off * s.sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
        for (int64_t j = 0; j < cols; j++) {
            const double v = j == t ? eps - off - s.rest / z : std::exp(tokitai_load(*call, x, j) - max) / z - off;
            tokitai_store(*call, g, j, bad ? std::nanf("") : float(call->scale * v));
        }
    }
    return 0;
}
