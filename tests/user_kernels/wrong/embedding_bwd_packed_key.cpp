/* WRONG op=embedding_bwd kind=packed_key narrow=yes expect=REFUTED : hits are sorted by one 32-bit key of 20 bits of index and 12 bits of position in a block of 4096 queries, so that indices from 2^20 on fall onto low rows */
#include <algorithm>
#include <cstring>
#include <vector>
#include <tokitai_kernel.h>
extern "C" int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                                     const void *grad_output, const void *index, void *grad_weight) {
    constexpr int64_t block = 4096;
    if (vocab == 0 || dim == 0) return 0;
    std::vector<float> sum(size_t(vocab) * size_t(dim));
    std::vector<uint32_t> key(block);
    for (int64_t from = 0; from < queries; from += block) {
        const int64_t n = std::min(block, queries - from);
        for (int64_t k = 0; k < n; k++)
            key[k] = uint32_t(tokitai_load_index(*call, index, from + k)) << 12 | uint32_t(k);
        std::sort(key.begin(), key.begin() + n); /* neighbours in the table are added together */
        for (int64_t k = 0; k < n; k++) {
            float *to = sum.data() + int64_t(key[k] >> 12) * dim;
            const int64_t query = from + (key[k] & 4095);
            for (int64_t j = 0; j < dim; j++) to[j] += tokitai_load(*call, grad_output, query * dim + j);
        }
    }
    for (int64_t k = 0; k < vocab * dim; k++) tokitai_store(*call, grad_weight, k, sum[size_t(k)]);
    return 0;
}
