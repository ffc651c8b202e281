/* RIGHT op=embedding_bwd kind=sort_halving expect=HELD : stable sort of (index, query), then each row's hits are summed by halving in double */
#include <algorithm>
#include <cstring>
#include <vector>
#include <tokitai_kernel.h>
namespace {
struct hit {
    int64_t row, query;
};
struct summer {
    const tokitai_call &call;
    const uint16_t *grad;
    const hit *hits;
    int64_t dim;
    double operator()(int64_t from, int64_t to, int64_t column) const {
        double s = 0;
        if (to - from <= 8) {
            for (int64_t k = from; k < to; k++) s += tokitai_load(call, grad, hits[k].query * dim + column);
            return s;
        }
        const int64_t mid = from + (to - from) / 2;
        return (*this)(from, mid, column) + (*this)(mid, to, column);
    }
};
} // namespace
extern "C" int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                                     const void *grad_output, const void *index, void *grad_weight) {
    if (dim == 0 || vocab == 0) return 0;
    std::vector<hit> hits(queries);
    for (int64_t i = 0; i < queries; i++) hits[i] = {tokitai_load_index(*call, index, i), i};
    std::stable_sort(hits.begin(), hits.end(), [](const hit &a, const hit &b) { return a.row < b.row; });
    std::memset(grad_weight, 0, size_t(vocab) * size_t(dim) * sizeof(uint16_t));
    const summer sum{*call, static_cast<const uint16_t *>(grad_output), hits.data(), dim};
    for (int64_t from = 0, to; from < queries; from = to) {
        for (to = from + 1; to < queries && hits[to].row == hits[from].row;) to++;
        for (int64_t j = 0; j < dim; j++)
            tokitai_store(*call, grad_weight, hits[from].row * dim + j, float(sum(from, to, j)));
    }
    return 0;
}
