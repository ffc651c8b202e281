/* RIGHT op=softmax_fwd kind=size_paths expect=HELD : rows of up to 512 keep their exponentials on the stack, longer ones compute them twice */
#include <cmath>
#include "tokitai_kernel.h"
namespace {
template <bool F16> struct element {
    static double get(uint16_t p) { return F16 ? tokitai_from_f16(p) : tokitai_from_bf16(p); }
    static uint16_t put(double v) { return F16 ? tokitai_to_f16((float)v) : tokitai_to_bf16((float)v); }
};
template <class E> double largest(const uint16_t *x, int64_t n) {
    double m = -INFINITY;
    for (int64_t j = 0; j < n; j++) m = E::get(x[j]) > m ? E::get(x[j]) : m;
    return m;
}
template <class E> void small_row(const uint16_t *x, uint16_t *y, int64_t n) {
    double e[512], sum[4] = {0, 0, 0, 0};
    const double m = largest<E>(x, n);
    for (int64_t j = 0; j < n; j++) sum[j & 3] += e[j] = std::exp(E::get(x[j]) - m);
    const double scale = 1.0 / ((sum[0] + sum[1]) + (sum[2] + sum[3]));
    for (int64_t j = 0; j < n; j++) y[j] = E::put(e[j] * scale);
}
template <class E> void large_row(const uint16_t *x, uint16_t *y, int64_t n) {
    const double m = largest<E>(x, n);
    double sum = 0;
    for (int64_t j = n; j-- > 0;) sum += std::exp(E::get(x[j]) - m);
    const double log_sum = m + std::log(sum); /* exp(x - log_sum) needs no division */
    const bool fold = std::fabs(m) < 1e6;
    for (int64_t j = 0; j < n; j++)
        y[j] = E::put(fold ? std::exp(E::get(x[j]) - log_sum) : std::exp(E::get(x[j]) - m) / sum);
}
template <class E> void all(const uint16_t *x, uint16_t *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) (cols <= 512 ? small_row<E> : large_row<E>)(x + r * cols, y + r * cols, cols);
}
} // namespace
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    if (call->dtype == TOKITAI_F16) all<element<true>>((const uint16_t *)x, (uint16_t *)y, rows, cols);
    else all<element<false>>((const uint16_t *)x, (uint16_t *)y, rows, cols);
    return 0;
}
