/* WRONG op=embedding_bwd kind=empty_unwritten narrow=no expect=REFUTED : the gradient is treated as sparse, only rows with hits are written and the others keep what was in memory */
#include <algorithm>
#include <numeric>
#include <vector>
#include <tokitai_kernel.h>
extern "C" int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                                     const void *grad_output, const void *index, void *grad_weight) {
    (void)vocab;
    std::vector<int64_t> row(queries), order(queries);
    for (int64_t i = 0; i < queries; i++) row[i] = tokitai_load_index(*call, index, i);
    std::iota(order.begin(), order.end(), int64_t(0));
    std::stable_sort(order.begin(), order.end(), [&row](int64_t a, int64_t b) { return row[a] < row[b]; });
    std::vector<float> sum(dim);
    for (int64_t k = 0; k < queries;) {
        const int64_t v = row[order[k]];
        std::fill(sum.begin(), sum.end(), 0.0f);
        for (; k < queries && row[order[k]] == v; k++)
            for (int64_t j = 0; j < dim; j++) sum[j] += tokitai_load(*call, grad_output, order[k] * dim + j);
        for (int64_t j = 0; j < dim; j++) tokitai_store(*call, grad_weight, v * dim + j, sum[j]);
    }
    return 0;
}
