/* WRONG op=embedding_bwd kind=spilled_partials narrow=yes expect=REFUTED : queries are taken in passes of 8192, and between passes the sums rest in the 16-bit output: rows with hits in two passes are rounded twice (queries > 8192) */
#include "kernel.h"
#define PASS 8192
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const int64_t cells = vocab * dim;
    float *sum = malloc(((size_t)dim + 1) * sizeof *sum);
    int32_t *head = malloc(((size_t)vocab + 1) * sizeof *head);
    static _Thread_local int32_t next[PASS];
    if (!sum || !head) return 1;
    memset(grad_weight, 0, (size_t)cells * 2);
    for (int64_t b = 0; b < queries; b += PASS) {
        const int m = queries - b < PASS ? (int)(queries - b) : PASS;
        memset(head, 0xff, (size_t)vocab * sizeof *head);
        for (int i = m - 1; i >= 0; i--) { /* lists in ascending order */
            const int64_t v = tokitai_load_index(*call, index, b + i);
            next[i] = head[v];
            head[v] = i;
        }
        for (int64_t v = 0; v < vocab; v++) {
            if (head[v] < 0) continue;
            for (int64_t c = 0; c < dim; c++) sum[c] = tokitai_load(*call, grad_weight, v * dim + c);
            for (int i = head[v]; i >= 0; i = next[i])
                for (int64_t c = 0; c < dim; c++) sum[c] += tokitai_load(*call, grad_output, (b + i) * dim + c);
            for (int64_t c = 0; c < dim; c++) tokitai_store(*call, grad_weight, v * dim + c, sum[c]);
        }
    }
    free(sum);
    free(head);
    return 0;
}
