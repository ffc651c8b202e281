/* WRONG op=xent kind=attribute_truncated narrow=yes expect=REFUTED : ignore_index is narrowed to the index type, so that with i32 targets an ignore_index beyond 2^31 drops a valid class */
#include <cmath>
#include <limits>
#include <vector>
#include <tokitai_kernel.h>
template <typename index_t>
static void rows_of(const tokitai_call &c, int64_t rows, int64_t cols, const uint16_t *logits, const index_t *target,
                    float *loss, uint16_t *grad) {
    const auto ignore = static_cast<index_t>(c.ignore_index);
    const double eps = c.label_smoothing, inf = std::numeric_limits<double>::infinity();
    std::vector<double> e(static_cast<size_t>(cols));
    for (int64_t r = 0; r < rows; r++, logits += cols, grad += cols) {
        const index_t t = target[r];
        double top = -inf, rest = 0.0, far = 0.0;
        bool bad = false;
        for (int64_t j = 0; j < cols && t != ignore; j++) {
            const double v = tokitai_load(c, logits, j);
            bad |= !(v < inf);
            top = v > top ? v : top;
        }
        if (t == ignore || bad || top == -inf) {
            const float fill = t == ignore ? 0.0f : std::nanf("");
            loss[r] = fill;
            for (int64_t j = 0; j < cols; j++) tokitai_store(c, grad, j, fill);
            continue;
        }
        const double dt = top - tokitai_load(c, logits, t);
        for (int64_t j = 0; j < cols; j++) {
            const double d = top - tokitai_load(c, logits, j);
            e[static_cast<size_t>(j)] = std::exp(-d);
            rest += j == t ? 0.0 : e[static_cast<size_t>(j)];
            far += d;
        }
        const double z = rest + e[static_cast<size_t>(t)], share = eps / static_cast<double>(cols);
        loss[r] = static_cast<float>(std::log(z) + (eps < 1 ? (1 - eps) * dt : 0.0) + (eps > 0 ? share * far : 0.0));
        for (int64_t j = 0; j < cols; j++) {
            const double diff = j == t ? share * static_cast<double>(cols - 1) - rest / z
                                       : e[static_cast<size_t>(j)] / z - share;
            tokitai_store(c, grad, j, static_cast<float>(c.scale * diff));
        }
    }
}
extern "C" int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits,
                            const void *target, float *loss, void *grad_logits) {
    const auto *x = static_cast<const uint16_t *>(logits);
    auto *g = static_cast<uint16_t *>(grad_logits);
    if (call->index_dtype == TOKITAI_I64)
        rows_of(*call, rows, cols, x, static_cast<const int64_t *>(target), loss, g);
    else rows_of(*call, rows, cols, x, static_cast<const int32_t *>(target), loss, g);
    return 0;
}
