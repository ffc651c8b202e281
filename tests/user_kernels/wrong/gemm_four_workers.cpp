/* WRONG op=gemm kind=thread_partition narrow=yes expect=REFUTED : at most four workers are started but the rows are dealt out for call->threads of them, so with threads >= 5 the last rows are not computed */
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>
#include <tokitai_kernel.h>
namespace {
constexpr int most_workers = 4;
struct product {
    const tokitai_call &call;
    int64_t n, k;
    const std::vector<float> &a, &b;
    void *c;
    void rows(int64_t first, int64_t last) const {
        std::vector<float> sum(n);
        for (int64_t i = first; i < last; i++) {
            std::fill(sum.begin(), sum.end(), 0.0f);
            for (int64_t t = 0; t < k; t++) {
                const float x = a[i * k + t];
                const float *row = b.data() + t * n;
                for (int64_t j = 0; j < n; j++) sum[j] += x * row[j];
            }
            for (int64_t j = 0; j < n; j++) tokitai_store(call, c, i * n + j, sum[j]);
        }
    }
};
} // namespace
extern "C" int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b,
                            void *c) {
    std::vector<float> wide_a(m * k), wide_b(k * n);
    for (int64_t i = 0; i < m * k; i++) wide_a[i] = tokitai_load(*call, a, i);
    for (int64_t i = 0; i < k * n; i++) wide_b[i] = tokitai_load(*call, b, i);
    const product p{*call, n, k, wide_a, wide_b, c};
    const int workers = std::min<int>(call->threads, most_workers);
    const int64_t chunk = (m + call->threads - 1) / call->threads;
    std::thread pool[most_workers];
    for (int w = 1; w < workers; w++)
        pool[w] = std::thread([&p, m, chunk, w] { p.rows(std::min(m, w * chunk), std::min(m, (w + 1) * chunk)); });
    p.rows(0, std::min(m, chunk));
    for (int w = 1; w < workers; w++) pool[w].join();
    return 0;
}
