/* WRONG op=embedding_bwd kind=uint8_run_length narrow=yes expect=REFUTED : after sorting, the length of a run is held in 8 bits, so that a row with more than 255 hits loses 256 of them or more */
#include <algorithm>
#include <cstring>
#include <vector>
#include <tokitai_kernel.h>
namespace {
struct run {
    int64_t row;
    size_t first;
    uint8_t hits;
};
} // namespace
extern "C" int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                                     const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    if (vocab * dim == 0) return 0;
    std::vector<std::pair<int64_t, int64_t>> order;
    for (int64_t i = 0; i < queries; i++) order.emplace_back(tokitai_load_index(c, index, i), i);
    std::sort(order.begin(), order.end());
    std::vector<run> runs;
    for (size_t i = 0; i < order.size(); i++) {
        if (i == 0 || order[i].first != order[i - 1].first) runs.push_back({order[i].first, i, 0});
        runs.back().hits++;
    }
    std::memset(grad_weight, 0, static_cast<size_t>(vocab * dim) * 2);
    for (const run &r : runs)
        for (int64_t j = 0; j < dim; j++) {
            float s = 0.0f;
            for (size_t h = 0; h < r.hits; h++)
                s += tokitai_load(c, grad_output, order[r.first + h].second * dim + j);
            tokitai_store(c, grad_weight, r.row * dim + j, s);
        }
    return 0;
}
