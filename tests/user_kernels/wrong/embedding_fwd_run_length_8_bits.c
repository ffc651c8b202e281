/* WRONG op=embedding_fwd kind=index_width narrow=yes expect=REFUTED : runs of following indices are copied at once; their length is kept in 8 bits */
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const uint16_t *from = weight;
    uint16_t *to = out;
    uint8_t *lengths = malloc((size_t)queries + 1);
    (void)vocab;
    if (!lengths) return 1;
    for (int64_t i = 0; i < queries;) { /* first find them all */
        int64_t end = i + 1;
        while (end < queries &&
               tokitai_load_index(*call, index, end) == tokitai_load_index(*call, index, end - 1) + 1)
            end++;
        lengths[i] = (uint8_t)(end - i);
        i = end;
    }
    for (int64_t i = 0; i < queries;) {
        const int64_t length = lengths[i] ? lengths[i] : 256;
        memcpy(to + i * dim, from + tokitai_load_index(*call, index, i) * dim, (size_t)(length * dim) * 2);
        i += length;
    }
    free(lengths);
    return 0;
}
