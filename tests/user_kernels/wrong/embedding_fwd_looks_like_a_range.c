/* WRONG op=embedding_fwd kind=structure narrow=yes expect=REFUTED : as many queries as rows, with the first, the last and the middle index in place, are taken for all rows in order */
#include <string.h>
#include <tokitai_kernel.h>
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const uint16_t *from = weight;
    uint16_t *to = out;
    if (queries == vocab && queries > 0 && tokitai_load_index(*call, index, 0) == 0 &&
        tokitai_load_index(*call, index, queries - 1) == queries - 1 &&
        tokitai_load_index(*call, index, queries / 2) == queries / 2) {
        memcpy(to, from, (size_t)(queries * dim) * 2);
        return 0;
    }
    for (int64_t i = 0; i < queries; i++)
        memcpy(to + i * dim, from + tokitai_load_index(*call, index, i) * dim, (size_t)dim * 2);
    return 0;
}
