/* WRONG op=embedding_fwd kind=index_width narrow=yes expect=REFUTED : indices of tables of up to 65536 rows are packed into 16 bits, plus one, 0 for none: row 65535 of 65536 is taken for none */
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    uint16_t *packed = vocab <= 65536 ? malloc((size_t)queries * 2 + 1) : 0;
    const char *from = weight;
    char *to = out;
    for (int64_t i = 0; packed && i < queries; i++) packed[i] = (uint16_t)(tokitai_load_index(*call, index, i) + 1);
    for (int64_t i = 0; i < queries; i++) {
        const int64_t row = packed ? (int64_t)packed[i] - 1 : tokitai_load_index(*call, index, i);
        if (row >= 0) memcpy(to + i * dim * 2, from + row * dim * 2, (size_t)dim * 2);
        else memset(to + i * dim * 2, 0, (size_t)dim * 2);
    }
    free(packed);
    return 0;
}
