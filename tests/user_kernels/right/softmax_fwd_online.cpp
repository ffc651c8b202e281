/* RIGHT op=softmax_fwd kind=online_blocks expect=HELD : one pass for maximum and sum, the sum rescaled at most 32 times a row, rows shared out by threads */
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>
#include <tokitai_kernel.h>
static void one_row(const tokitai_call &call, int64_t cols, const uint16_t *in, uint16_t *out) {
    const int64_t block = std::max<int64_t>(128, (cols + 31) / 32);
    float top = -std::numeric_limits<float>::infinity(), sum = 0.0f;
    bool poisoned = false;
    for (int64_t at = 0; at < cols; at += block) {
        const int64_t end = std::min(cols, at + block);
        float high = top;
        for (int64_t j = at; j < end; j++) {
            const float v = tokitai_load(call, in, j);
            poisoned |= !(v < std::numeric_limits<float>::infinity());
            high = std::max(high, v);
        }
        if (std::isinf(high)) continue; /* nothing but -inf so far; +inf is remembered above */
        if (high > top) {
            sum *= std::exp(top - high);
            top = high;
        }
        float part = 0.0f;
        for (int64_t j = at; j < end; j++) part += std::exp(tokitai_load(call, in, j) - top);
        sum += part;
    }
    if (poisoned || std::isinf(top)) sum = std::numeric_limits<float>::quiet_NaN();
    for (int64_t j = 0; j < cols; j++) {
        const float e = std::isnan(sum) ? sum : std::exp(tokitai_load(call, in, j) - top);
        tokitai_store(call, out, j, e / sum);
    }
}
extern "C" int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    std::atomic<int64_t> next{0};
    auto work = [&] {
        for (int64_t r; (r = next.fetch_add(1)) < rows;)
            one_row(*call, cols, (const uint16_t *)x + r * cols, (uint16_t *)y + r * cols);
    };
    const int64_t workers = rows * cols < 4096 ? 1
                                               : std::clamp<int64_t>(call->threads, 1, std::min<int64_t>(rows, 24));
    std::vector<std::thread> team;
    for (int64_t t = 1; t < workers; t++) team.emplace_back(work);
    work();
    for (auto &t : team) t.join();
    return 0;
}
