/* RIGHT op=xent kind=exp_cache expect=HELD : templated on the element type, each exp computed once and kept in a vector of doubles, sums by halving */
#include <cmath>
#include <limits>
#include <new>
#include <vector>
#include <tokitai_kernel.h>
namespace {
struct half {
    static float from(uint16_t v) { return tokitai_from_f16(v); }
    static uint16_t to(float v) { return tokitai_to_f16(v); }
};
struct brain {
    static float from(uint16_t v) { return tokitai_from_bf16(v); }
    static uint16_t to(float v) { return tokitai_to_bf16(v); }
};
double halving(const double *v, int64_t n) {
    if (n <= 32) {
        double s = 0;
        for (int64_t i = 0; i < n; i++) s += v[i];
        return s;
    }
    return halving(v, n / 2) + halving(v + n / 2, n - n / 2);
}
template <class T, class I>
void run(const tokitai_call &call, int64_t rows, int64_t cols, const uint16_t *x, const I *target, float *loss,
         uint16_t *g) {
    const double inf = std::numeric_limits<double>::infinity(), eps = call.label_smoothing, alpha = call.scale;
    std::vector<double> d(cols), e(cols);
    for (int64_t r = 0; r < rows; r++, x += cols, g += cols) {
        const int64_t t = target[r];
        if (t == call.ignore_index) {
            loss[r] = 0;
            for (int64_t j = 0; j < cols; j++) g[j] = 0;
            continue;
        }
        double max = -inf;
        bool bad = false;
        for (int64_t j = 0; j < cols; j++) {
            d[j] = T::from(x[j]);
            bad |= std::isnan(d[j]) || d[j] == inf;
            if (d[j] > max) max = d[j];
        }
        if (bad || max == -inf) {
            for (int64_t j = 0; j < cols; j++) g[j] = T::to(std::numeric_limits<float>::quiet_NaN());
            loss[r] = std::numeric_limits<float>::quiet_NaN();
            continue;
        }
        for (int64_t j = 0; j < cols; j++) {
            d[j] = max - d[j];
            e[j] = std::exp(-d[j]);
        }
        const double et = e[t], off = eps / double(cols);
        e[t] = 0;
        const double others = halving(e.data(), cols), z = others + et;
        for (int64_t j = 0; j < cols; j++) g[j] = T::to(float(alpha * (e[j] / z - off)));
        g[t] = T::to(float(alpha * (eps - off - others / z)));
        double l = std::log(z);
        if (eps > 0) l += off * halving(d.data(), cols);
        if (eps < 1) l += (1 - eps) * d[t];
        loss[r] = float(l);
    }
}
} // namespace
extern "C" int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits,
                            const void *target, float *loss, void *grad_logits) {
    const uint16_t *x = static_cast<const uint16_t *>(logits);
    uint16_t *g = static_cast<uint16_t *>(grad_logits);
    const bool f16 = call->dtype == TOKITAI_F16;
    if (call->index_dtype == TOKITAI_I64) {
        const int64_t *t = static_cast<const int64_t *>(target);
        f16 ? run<half>(*call, rows, cols, x, t, loss, g) : run<brain>(*call, rows, cols, x, t, loss, g);
    } else {
        const int32_t *t = static_cast<const int32_t *>(target);
        f16 ? run<half>(*call, rows, cols, x, t, loss, g) : run<brain>(*call, rows, cols, x, t, loss, g);
    }
    return 0;
}
