/* RIGHT op=gemm kind=wide_accumulator expect=HELD : blocked product with sums in double, one template for each type, rounded to fp32 and then to the output type */
#include <algorithm>
#include <cstdint>
#include <vector>
#include <tokitai_kernel.h>
namespace {
struct half {
    static float wide(uint16_t v) { return tokitai_from_f16(v); }
    static uint16_t narrow(float v) { return tokitai_to_f16(v); }
};
struct brain {
    static float wide(uint16_t v) { return tokitai_from_bf16(v); }
    static uint16_t narrow(float v) { return tokitai_to_bf16(v); }
};
template <class Type>
void product(int64_t m, int64_t n, int64_t k, const uint16_t *a, const uint16_t *b, uint16_t *c) {
    constexpr int64_t row_block = 7, col_block = 40, depth = 100;
    std::vector<double> right(depth * col_block), sum(row_block * col_block);
    for (int64_t j0 = 0; j0 < n; j0 += col_block)
        for (int64_t i0 = 0; i0 < m; i0 += row_block) {
            const int64_t cols = std::min(col_block, n - j0), rows = std::min(row_block, m - i0);
            std::fill(sum.begin(), sum.end(), 0.0);
            for (int64_t t0 = 0; t0 < k; t0 += depth) {
                const int64_t deep = std::min(depth, k - t0);
                for (int64_t t = 0; t < deep; t++)
                    for (int64_t j = 0; j < cols; j++)
                        right[t * col_block + j] = Type::wide(b[(t0 + t) * n + j0 + j]);
                for (int64_t i = 0; i < rows; i++)
                    for (int64_t t = 0; t < deep; t++) {
                        const double x = Type::wide(a[(i0 + i) * k + t0 + t]);
                        for (int64_t j = 0; j < cols; j++) sum[i * col_block + j] += x * right[t * col_block + j];
                    }
            }
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < cols; j++)
                    c[(i0 + i) * n + j0 + j] = Type::narrow(static_cast<float>(sum[i * col_block + j]));
        }
}
} // namespace
extern "C" int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b,
                            void *c) {
    const auto *pa = static_cast<const uint16_t *>(a), *pb = static_cast<const uint16_t *>(b);
    (call->dtype == TOKITAI_F16 ? product<half> : product<brain>)(m, n, k, pa, pb, static_cast<uint16_t *>(c));
    return 0;
}
