/* WRONG op=softmax_bwd kind=thread_dependent_sum narrow=yes expect=REFUTED : with more threads than rows each row is cut into one part per thread, so that the order of the sum follows the thread count */
#include <algorithm>
#include <thread>
#include <vector>
#include <tokitai_kernel.h>
static float part_dot(const tokitai_call &c, const uint16_t *g, const uint16_t *y, int64_t lo, int64_t hi) {
    float s = 0.0f;
    for (int64_t j = lo; j < hi; j++) s += tokitai_load(c, y, j) * tokitai_load(c, g, j);
    return s;
}
extern "C" int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output,
                                   const void *y, void *grad_input) {
    const tokitai_call c = *call;
    const bool wide = c.threads > rows && cols >= 1024;
    const int64_t parts = wide ? std::min<int64_t>(c.threads, 16) : 1;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        std::vector<float> sums((size_t)parts);
        std::vector<std::thread> team;
        for (int64_t t = 1; t < parts; t++)
            team.emplace_back(
                [&, t] { sums[(size_t)t] = part_dot(c, g, p, cols * t / parts, cols * (t + 1) / parts); });
        sums[0] = part_dot(c, g, p, 0, cols / parts);
        for (auto &t : team) t.join();
        float s = sums[0];
        for (int64_t t = 1; t < parts; t++) s += sums[(size_t)t];
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, grad_input, r * cols + j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
    }
    return 0;
}
