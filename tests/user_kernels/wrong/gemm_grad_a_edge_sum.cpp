/* WRONG op=gemm_grad_a kind=acc_reset narrow=no expect=REFUTED : the accumulators for the m % 4 rows at the bottom are cleared once and not for each group of columns, so with k > 4 the later groups hold the sums of the ones before as well */
#include <cstdint>
#include <vector>
#include <tokitai_kernel.h>
namespace {
constexpr int rows_of_tile = 4, cols_of_tile = 4;
template <int Rows>
void accumulate(const float *x, const float *y, int64_t n, int cols, float (&sum)[rows_of_tile][cols_of_tile]) {
    for (int64_t j = 0; j < n; j++)
        for (int r = 0; r < Rows; r++)
            for (int s = 0; s < cols; s++) sum[r][s] += x[r * n + j] * y[s * n + j];
}
void store(const tokitai_call &call, void *to, int64_t k, int64_t i, int64_t t, int rows, int cols,
           const float (&sum)[rows_of_tile][cols_of_tile]) {
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < cols; s++) tokitai_store(call, to, (i + r) * k + t + s, sum[r][s]);
}
} // namespace
extern "C" int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c,
                                   const void *b, void *grad_a) {
    std::vector<float> x(m * n), y(k * n);
    for (int64_t i = 0; i < m * n; i++) x[i] = tokitai_load(*call, grad_c, i);
    for (int64_t i = 0; i < k * n; i++) y[i] = tokitai_load(*call, b, i);
    const int64_t whole = m / rows_of_tile * rows_of_tile;
    const int left = static_cast<int>(m - whole);
    for (int64_t i = 0; i < whole; i += rows_of_tile)
        for (int64_t t = 0; t < k; t += cols_of_tile) {
            float sum[rows_of_tile][cols_of_tile] = {};
            const int cols = k - t < cols_of_tile ? static_cast<int>(k - t) : cols_of_tile;
            accumulate<rows_of_tile>(x.data() + i * n, y.data() + t * n, n, cols, sum);
            store(*call, grad_a, k, i, t, rows_of_tile, cols, sum);
        }
    float sum[rows_of_tile][cols_of_tile] = {};
    for (int64_t t = 0; t < k && left > 0; t += cols_of_tile) {
        const int cols = k - t < cols_of_tile ? static_cast<int>(k - t) : cols_of_tile;
        const float *rest = x.data() + whole * n;
        if (left == 1) accumulate<1>(rest, y.data() + t * n, n, cols, sum);
        else if (left == 2) accumulate<2>(rest, y.data() + t * n, n, cols, sum);
        else accumulate<3>(rest, y.data() + t * n, n, cols, sum);
        store(*call, grad_a, k, whole, t, left, cols, sum);
    }
    return 0;
}
