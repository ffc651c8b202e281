/* WRONG op=embedding_fwd kind=index_through_float narrow=yes expect=REFUTED : row numbers of i64 indices pass through single precision in a staging block, since there is no vector conversion from 64 bits, so that odd indices above 2^24 take a neighbouring row */
#include "kernel.h"
enum { BLOCK = 64 };
static void stage(const tokitai_call *call, const void *index, int64_t from, int n, int32_t *to) {
    float f[BLOCK];
    if (call->index_dtype == TOKITAI_I32) {
        memcpy(to, (const int32_t *)index + from, (size_t)n * sizeof *to);
        return;
    }
    for (int k = 0; k < n; k++) f[k] = (float)((const int64_t *)index)[from + k];
    for (int k = 0; k < n; k++) to[k] = (int32_t)f[k];
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const size_t bytes = (size_t)dim * sizeof(uint16_t);
    int32_t row[BLOCK];
    if (bytes == 0) return 0;
    for (int64_t from = 0; from < queries; from += BLOCK) {
        const int n = queries - from < BLOCK ? (int)(queries - from) : BLOCK;
        stage(call, index, from, n, row);
        for (int k = 0; k < n; k++) {
            const int64_t v = row[k] < vocab ? row[k] : vocab - 1;
            memcpy((uint16_t *)out + (from + k) * dim, (const uint16_t *)weight + v * dim, bytes);
        }
    }
    return 0;
}
