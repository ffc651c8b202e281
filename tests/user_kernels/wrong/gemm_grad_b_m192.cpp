/* WRONG op=gemm_grad_b kind=size_special narrow=yes expect=REFUTED : the unrolled kernel for m == 192 takes 128 rows and then 64 more, but begins these at row 64, so rows 64 to 127 count twice and the last 64 not at all */
#include <cstdint>
#include <vector>
#include <tokitai_kernel.h>
namespace {
/* sum[t][j] += the rows first to first + Rows, four at a time */
template <int Rows> void rows(const float *a, const float *g, int64_t first, int64_t n, int64_t k, float *sum) {
    static_assert(Rows % 4 == 0, "four rows at a time");
    for (int64_t i = first; i < first + Rows; i += 4)
        for (int64_t t = 0; t < k; t++) {
            const float a0 = a[i * k + t], a1 = a[(i + 1) * k + t], a2 = a[(i + 2) * k + t], a3 = a[(i + 3) * k + t];
            const float *g0 = g + i * n, *g1 = g0 + n, *g2 = g1 + n, *g3 = g2 + n;
            for (int64_t j = 0; j < n; j++) sum[t * n + j] += (a0 * g0[j] + a1 * g1[j]) + (a2 * g2[j] + a3 * g3[j]);
        }
}
void any_rows(const float *a, const float *g, int64_t m, int64_t n, int64_t k, float *sum) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) sum[t * n + j] += a[i * k + t] * g[i * n + j];
}
} // namespace
extern "C" int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c,
                                   const void *a, void *grad_b) {
    std::vector<float> wide_a(m * k), wide_g(m * n), sum(k * n);
    for (int64_t i = 0; i < m * k; i++) wide_a[i] = tokitai_load(*call, a, i);
    for (int64_t i = 0; i < m * n; i++) wide_g[i] = tokitai_load(*call, grad_c, i);
    const float *x = wide_a.data(), *g = wide_g.data();
    switch (m) {
    case 64: rows<64>(x, g, 0, n, k, sum.data()); break;
    case 128: rows<128>(x, g, 0, n, k, sum.data()); break;
    case 192:
        rows<128>(x, g, 0, n, k, sum.data());
        rows<64>(x, g, 64, n, k, sum.data());
        break;
    case 256:
        rows<128>(x, g, 0, n, k, sum.data());
        rows<128>(x, g, 128, n, k, sum.data());
        break;
    default: any_rows(x, g, m, n, k, sum.data());
    }
    for (int64_t e = 0; e < k * n; e++) tokitai_store(*call, grad_b, e, sum[e]);
    return 0;
}
