/* WRONG op=gemm_grad_b kind=arrival_order_sum narrow=no expect=REFUTED : every thread sums its share of m and adds it to the total when it is done, in whatever order; the split follows the thread count as well */
#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>
#include <tokitai_kernel.h>
extern "C" int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c,
                                   const void *a, void *grad_b) {
    const tokitai_call c = *call;
    std::vector<float> total(static_cast<size_t>(k * n));
    std::mutex lock;
    const int64_t parts = std::clamp<int64_t>(std::min<int64_t>(c.threads, m), 1, 32);
    auto work = [&](int64_t part) {
        std::vector<float> mine(static_cast<size_t>(k * n));
        for (int64_t i = m * part / parts; i < m * (part + 1) / parts; i++)
            for (int64_t t = 0; t < k; t++) {
                const float av = tokitai_load(c, a, i * k + t);
                for (int64_t j = 0; j < n; j++)
                    mine[static_cast<size_t>(t * n + j)] += av * tokitai_load(c, grad_c, i * n + j);
            }
        std::lock_guard<std::mutex> hold(lock);
        for (size_t e = 0; e < mine.size(); e++) total[e] += mine[e];
    };
    std::vector<std::thread> team;
    for (int64_t t = 1; t < parts; t++) team.emplace_back(work, t);
    work(0);
    for (auto &t : team) t.join();
    for (int64_t e = 0; e < k * n; e++) tokitai_store(c, grad_b, e, total[static_cast<size_t>(e)]);
    return 0;
}
