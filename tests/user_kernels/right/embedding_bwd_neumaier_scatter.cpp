/* RIGHT op=embedding_bwd kind=neumaier_scatter expect=HELD : compensated fp32 sums in a hash map of rows, the compensation dropped where it is not finite; zeros first, hit rows after */
#include <tokitai_kernel.h>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <vector>
static float plus(float a, float b) {
    volatile float s = a + b;
    return s;
}
extern "C" int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                                     const void *grad_output, const void *index, void *grad_weight) {
    if (vocab * dim == 0) return 0;
    std::memset(grad_weight, 0, size_t(vocab * dim) * 2);
    std::unordered_map<int64_t, std::vector<float>> rows;
    for (int64_t i = 0; i < queries; i++) {
        std::vector<float> &r = rows[tokitai_load_index(*call, index, i)];
        if (r.empty()) r.assign(size_t(dim) * 2, 0.0f);
        for (int64_t c = 0; c < dim; c++) {
            float &sum = r[2 * c], &rest = r[2 * c + 1];
            const float g = tokitai_load(*call, grad_output, i * dim + c), t = plus(sum, g);
            if (std::fabs(sum) >= std::fabs(g)) rest = plus(rest, plus(plus(sum, -t), g));
            else rest = plus(rest, plus(plus(g, -t), sum));
            sum = t;
        }
    }
    for (const auto &row : rows)
        for (int64_t c = 0; c < dim; c++) {
            const float sum = row.second[2 * c], rest = row.second[2 * c + 1];
            tokitai_store(*call, grad_weight, row.first * dim + c, std::isfinite(rest) ? sum + rest : sum);
        }
    return 0;
}
