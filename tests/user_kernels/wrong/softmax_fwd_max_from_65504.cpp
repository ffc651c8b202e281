/* WRONG op=softmax_fwd kind=wrong_max_identity narrow=yes expect=REFUTED : the maximum starts at -65504 in bf16 as well, so that a bf16 row all below that gives NaN */
#include <algorithm>
#include <cmath>
#include "tokitai_kernel.h"
namespace {
constexpr float kLowest = -65504.0f; /* of half */
template <class Load, class Store>
void rows_of(int64_t rows, int64_t cols, const uint16_t *x, uint16_t *y, Load load, Store store) {
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float m = kLowest;
        for (int64_t j = 0; j < cols; j++) m = std::max(m, load(x[j]));
        double even = 0, odd = 0;
        int64_t j = 0;
        for (; j + 1 < cols; j += 2) {
            even += std::exp(load(x[j]) - m);
            odd += std::exp(load(x[j + 1]) - m);
        }
        if (j < cols) even += std::exp(load(x[j]) - m);
        for (j = 0; j < cols; j++) y[j] = store((float)(std::exp(load(x[j]) - m) / (even + odd)));
    }
}
} // namespace
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const uint16_t *in = (const uint16_t *)x;
    uint16_t *out = (uint16_t *)y;
    if (call->dtype == TOKITAI_F16) rows_of(rows, cols, in, out, tokitai_from_f16, tokitai_to_f16);
    else rows_of(rows, cols, in, out, tokitai_from_bf16, tokitai_to_bf16);
    return 0;
}
