/* RIGHT op=embedding_fwd kind=chained_copies expect=HELD : sorts queries by row and copies each later one from the output row of the one before it; last rows first */
#include <tokitai_kernel.h>
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>
extern "C" int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                                     const void *index, const void *weight, void *out) {
    (void)vocab;
    std::vector<int64_t> order(queries), row(queries);
    std::iota(order.begin(), order.end(), int64_t(0));
    for (int64_t i = 0; i < queries; i++) row[i] = tokitai_load_index(*call, index, i);
    std::sort(order.begin(), order.end(),
              [&](int64_t a, int64_t b) { return row[a] != row[b] ? row[a] > row[b] : a > b; });
    uint16_t *o = static_cast<uint16_t *>(out);
    const uint16_t *w = static_cast<const uint16_t *>(weight);
    for (int64_t k = 0; k < queries && dim > 0; k++) {
        const int64_t i = order[k];
        const uint16_t *from = k > 0 && row[order[k - 1]] == row[i] ? o + order[k - 1] * dim : w + row[i] * dim;
        std::memcpy(o + i * dim, from, size_t(dim) * 2);
    }
    return 0;
}
