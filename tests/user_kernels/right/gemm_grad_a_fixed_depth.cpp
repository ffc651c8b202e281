/* RIGHT op=gemm_grad_a kind=size_special expect=HELD : dot products of 32, 64, 96 and 128 terms are unrolled by a template, other sizes go through 128-term blocks and a remainder */
#include <cstdint>
#include <vector>
#include <tokitai_kernel.h>
namespace {
template <int Depth> float dot(const float *x, const float *y) {
    float lane[8] = {};
    for (int j = 0; j < Depth; j += 8)
        for (int l = 0; l < 8; l++) lane[l] += x[j + l] * y[j + l];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}
float dot_any(const float *x, const float *y, int64_t n) {
    float sum = 0;
    int64_t j = 0;
    for (; j + 128 <= n; j += 128) sum += dot<128>(x + j, y + j);
    for (; j < n; j++) sum += x[j] * y[j];
    return sum;
}
float dot_sized(const float *x, const float *y, int64_t n) {
    switch (n) {
    case 32: return dot<32>(x, y);
    case 64: return dot<64>(x, y);
    case 96: return dot<96>(x, y);
    case 128: return dot<128>(x, y);
    default: return dot_any(x, y, n);
    }
}
} // namespace
extern "C" int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c,
                                   const void *b, void *grad_a) {
    std::vector<float> wide(k * n), row(n);
    for (int64_t i = 0; i < k * n; i++) wide[i] = tokitai_load(*call, b, i);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) row[j] = tokitai_load(*call, grad_c, i * n + j);
        for (int64_t t = 0; t < k; t++)
            tokitai_store(*call, grad_a, i * k + t, dot_sized(row.data(), wide.data() + t * n, n));
    }
    return 0;
}
