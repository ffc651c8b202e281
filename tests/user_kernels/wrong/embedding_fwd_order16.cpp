/* WRONG op=embedding_fwd kind=index_truncation narrow=yes expect=REFUTED : blocks of queries are ordered by table row with 16-bit keys and gathered by the key, so that an index above 65535 takes the row of its low 16 bits */
#include <algorithm>
#include <cstring>
#include <tokitai_kernel.h>
namespace {
struct entry {
    uint16_t row, query;
};
} // namespace
extern "C" int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                                     const void *index, const void *weight, void *out) {
    constexpr int64_t block = 2048;
    const size_t bytes = size_t(dim) * sizeof(uint16_t);
    const uint16_t *w = static_cast<const uint16_t *>(weight);
    uint16_t *o = static_cast<uint16_t *>(out);
    (void)vocab;
    if (bytes == 0) return 0;
    entry e[block];
    for (int64_t from = 0; from < queries; from += block) {
        const int64_t n = std::min(block, queries - from);
        for (int64_t k = 0; k < n; k++) e[k] = {uint16_t(tokitai_load_index(*call, index, from + k)), uint16_t(k)};
        std::sort(e, e + n, [](entry a, entry b) { return a.row != b.row ? a.row < b.row : a.query < b.query; });
        for (int64_t k = 0; k < n; k++)
            std::memcpy(o + (from + e[k].query) * dim, w + int64_t(e[k].row) * dim, bytes);
    }
    return 0;
}
