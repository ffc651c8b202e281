/* WRONG op=embedding_fwd kind=byte_offset_i32 narrow=yes expect=HELD : the byte offset of a row is computed in 32-bit int: rows beyond 2 GiB of the table (index * dim * 2 >= 2^31) are read from elsewhere */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    const int row = (int)dim * 2;
    const char *w = weight;
    char *o = out;
    if (row == 0) return 0;
    for (int64_t i = 0; i < queries; i++) {
        const int v = (int)tokitai_load_index(*call, index, i);
        memcpy(o, w + (int)((unsigned)v * (unsigned)row), (size_t)row);
        o += row;
    }
    return 0;
}
