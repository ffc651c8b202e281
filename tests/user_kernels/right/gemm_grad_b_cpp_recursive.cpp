/* RIGHT op=gemm_grad_b kind=cpp_recursive expect=HELD : C++ templates and std::thread; the sum is cut recursively at a third, so that partial sums combine as an uneven tree */
#include <cstdint>
#include <thread>
#include <vector>
#include <tokitai_kernel.h>
namespace {
struct f16 {
    static float in(uint16_t h) { return tokitai_from_f16(h); }
    static uint16_t out(float f) { return tokitai_to_f16(f); }
};
struct bf16 {
    static float in(uint16_t h) { return tokitai_from_bf16(h); }
    static uint16_t out(float f) { return tokitai_to_bf16(f); }
};
template <class T> struct product {
    const uint16_t *g, *a;
    int64_t n, k;
    /* sum[t - t0][j - j0] = sum over i0 <= i < i1 */
    void part(int64_t i0, int64_t i1, int64_t t0, int64_t t1, int64_t j0, int64_t j1, float *sum,
              int64_t pitch) const {
        if (i1 - i0 > 24) { /* the cut depends on i alone: the same tree for every element */
            const int64_t mid = i0 + (i1 - i0) / 3;
            std::vector<float> other((size_t)((t1 - t0) * (j1 - j0)));
            part(i0, mid, t0, t1, j0, j1, sum, pitch);
            part(mid, i1, t0, t1, j0, j1, other.data(), j1 - j0);
            for (int64_t t = 0; t < t1 - t0; t++)
                for (int64_t j = 0; j < j1 - j0; j++) sum[t * pitch + j] += other[(size_t)(t * (j1 - j0) + j)];
            return;
        }
        for (int64_t t = t0; t < t1; t++)
            for (int64_t j = j0; j < j1; j++) {
                float s = 0;
                for (int64_t i = i0; i < i1; i++) s += T::in(a[i * k + t]) * T::in(g[i * n + j]);
                sum[(t - t0) * pitch + j - j0] = s;
            }
    }
};
template <class T>
void run(int threads, int64_t m, int64_t n, int64_t k, const uint16_t *g, const uint16_t *a, uint16_t *out) {
    const product<T> p{g, a, n, k};
    auto share = [&](int id) {
        for (int64_t t0 = 16 * id; t0 < k; t0 += 16 * threads) {
            const int64_t t1 = t0 + 16 < k ? t0 + 16 : k;
            for (int64_t j0 = 0; j0 < n; j0 += 48) {
                const int64_t j1 = j0 + 48 < n ? j0 + 48 : n;
                float sum[16 * 48];
                p.part(0, m, t0, t1, j0, j1, sum, 48);
                for (int64_t t = t0; t < t1; t++)
                    for (int64_t j = j0; j < j1; j++) out[t * n + j] = T::out(sum[(t - t0) * 48 + j - j0]);
            }
        }
    };
    std::vector<std::thread> team;
    for (int id = 1; id < threads; id++) team.emplace_back(share, id);
    share(0);
    for (auto &t : team) t.join();
}
} // namespace
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const auto *g = static_cast<const uint16_t *>(grad_c), *pa = static_cast<const uint16_t *>(a);
    auto *out = static_cast<uint16_t *>(grad_b);
    if (call->dtype == TOKITAI_F16) run<f16>(call->threads, m, n, k, g, pa, out);
    else run<bf16>(call->threads, m, n, k, g, pa, out);
    return 0;
}
