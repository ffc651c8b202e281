/* WRONG op=softmax_fwd kind=low_precision_sum narrow=no expect=REFUTED : the running sum over groups of 8 is kept in the element type */
#include <cmath>
#include "tokitai_kernel.h"
namespace {
struct half_type {
    static float load(uint16_t p) { return tokitai_from_f16(p); }
    static uint16_t store(float v) { return tokitai_to_f16(v); }
};
struct bfloat_type {
    static float load(uint16_t p) { return tokitai_from_bf16(p); }
    static uint16_t store(float v) { return tokitai_to_bf16(v); }
};
template <class T> void row(const uint16_t *x, uint16_t *y, int64_t n) {
    float m = -INFINITY;
    for (int64_t j = 0; j < n; j++) m = std::fmax(m, T::load(x[j]));
    uint16_t total = T::store(0.0f);
    for (int64_t b = 0; b < n; b += 8) {
        float part = 0;
        for (int64_t j = b; j < b + 8 && j < n; j++) part += std::exp(T::load(x[j]) - m);
        total = T::store(T::load(total) + part);
    }
    for (int64_t j = 0; j < n; j++) y[j] = T::store(std::exp(T::load(x[j]) - m) / T::load(total));
}
} // namespace
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++)
        (call->dtype == TOKITAI_F16 ? row<half_type> : row<bfloat_type>)((const uint16_t *)x + r * cols,
                                                                         (uint16_t *)y + r * cols, cols);
    return 0;
}
