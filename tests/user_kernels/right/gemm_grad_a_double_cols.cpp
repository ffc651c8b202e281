/* RIGHT op=gemm_grad_a kind=double_accumulate_columns expect=HELD : pairs of products summed in double, columns of grad_a taken by threads from a shared counter */
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>
#include <tokitai_kernel.h>
extern "C" int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c,
                                   const void *b, void *grad_a) {
    std::atomic<int64_t> next{0};
    auto work = [&] {
        const tokitai_call c = *call;
        std::vector<double> w(static_cast<size_t>(n));
        for (int64_t t; (t = next.fetch_add(1)) < k;) {
            for (int64_t j = 0; j < n; j++) w[static_cast<size_t>(j)] = tokitai_load(c, b, t * n + j);
            for (int64_t i = 0; i < m; i++) {
                double even = 0.0, odd = 0.0;
                int64_t j = 0;
                for (; j + 2 <= n; j += 2) {
                    even += tokitai_load(c, grad_c, i * n + j) * w[static_cast<size_t>(j)];
                    odd += tokitai_load(c, grad_c, i * n + j + 1) * w[static_cast<size_t>(j) + 1];
                }
                if (j < n) even += tokitai_load(c, grad_c, i * n + j) * w[static_cast<size_t>(j)];
                tokitai_store(c, grad_a, i * k + t, static_cast<float>(even + odd));
            }
        }
    };
    const int64_t workers = std::clamp<int64_t>(std::min<int64_t>(call->threads, k), 1, 16);
    std::vector<std::thread> team;
    for (int64_t t = 1; t < workers; t++) team.emplace_back(work);
    work();
    for (auto &t : team) t.join();
    return 0;
}
