/* WRONG op=embedding_bwd kind=segment_spans_chunks narrow=yes expect=REFUTED : sorted hits are summed in chunks of 256; sums at the ends of chunks are joined from two neighbours only, so a row whose hits fill a whole chunk and reach into both others (from 258 hits on, depending on where they lie) loses what came first */
#include "embedding.h"
#define CHUNK 256
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    int64_t *start, *at;
    if (sort_hits(call, queries, vocab, index, &start, &at)) return 1;
    uint16_t *out = grad_weight;
    memset(out, 0, (size_t)(vocab * dim) * 2);
    const int64_t chunks = (queries + CHUNK - 1) / CHUNK;
    /* the first and the last sum of each chunk may be parts: of the row before, of the row after */
    for (int64_t c = 0; c < dim; c++) {
        float open = 0.0f; /* sum of the row that the last chunk ended in */
        int64_t open_row = -1;
        for (int64_t k = 0; k < chunks; k++) {
            const int64_t b = k * CHUNK, e = b + CHUNK < queries ? b + CHUNK : queries;
            int64_t row = tokitai_load_index(*call, index, at[b]);
            float sum = 0.0f, carry = row == open_row ? open : 0.0f;
            for (int64_t i = b; i < e; i++) {
                const int64_t v = tokitai_load_index(*call, index, at[i]);
                if (v != row) {
                    tokitai_store(*call, out, row * dim + c, carry + sum);
                    carry = 0.0f;
                    sum = 0.0f;
                    row = v;
                }
                sum += tokitai_load(*call, grad_output, at[i] * dim + c);
            }
            tokitai_store(*call, out, row * dim + c, carry + sum); /* final if the next chunk begins another */
            open = sum;
            open_row = row;
        }
    }
    free(start);
    free(at);
    return 0;
}
