/* RIGHT op=embedding_fwd kind=bucketed expect=HELD : queries are ordered by table row first so that each row is read once from memory */
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>
#include <tokitai_kernel.h>
template <class I>
static void gather(int64_t queries, int64_t dim, const I *index, const uint16_t *weight, uint16_t *out) {
    constexpr int64_t block = 4096;
    std::vector<int32_t> order(std::min(queries, block));
    for (int64_t from = 0; from < queries; from += block) {
        const int64_t n = std::min(block, queries - from);
        const I *idx = index + from;
        std::iota(order.begin(), order.begin() + n, 0);
        std::sort(order.begin(), order.begin() + n, [idx](int32_t a, int32_t b) { return idx[a] < idx[b]; });
        for (int64_t k = 0; k < n; k++) {
            const int64_t i = order[k];
            std::memcpy(out + (from + i) * dim, weight + int64_t(idx[i]) * dim, size_t(dim) * sizeof(uint16_t));
        }
    }
}
extern "C" int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                                     const void *index, const void *weight, void *out) {
    (void)vocab;
    if (queries == 0 || dim == 0) return 0;
    const uint16_t *w = static_cast<const uint16_t *>(weight);
    uint16_t *o = static_cast<uint16_t *>(out);
    if (call->index_dtype == TOKITAI_I64) gather(queries, dim, static_cast<const int64_t *>(index), w, o);
    else gather(queries, dim, static_cast<const int32_t *>(index), w, o);
    return 0;
}
