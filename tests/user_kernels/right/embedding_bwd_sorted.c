/* RIGHT op=embedding_bwd kind=positions_sorted_by_row expect=HELD : positions sorted by row (counting sort), each row summed in fp32 in order of position */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    int64_t *start = calloc((size_t)vocab + 2, sizeof *start), *order = malloc(((size_t)queries + 1) * sizeof *order);
    for (int64_t q = 0; q < queries; q++)
        start[tokitai_load_index(c, index, q) + 2 <= vocab ? tokitai_load_index(c, index, q) + 2 : vocab + 1]++;
    for (int64_t v = 2; v <= vocab; v++) start[v] += start[v - 1];
    for (int64_t q = 0; q < queries; q++) order[start[tokitai_load_index(c, index, q) + 1]++] = q;
    for (int64_t v = 0; v < vocab; v++)
        for (int64_t j = 0; j < dim; j++) {
            float s = 0;
            for (int64_t i = start[v]; i < start[v + 1]; i++) s += tokitai_load(c, grad_output, order[i] * dim + j);
            tokitai_store(c, grad_weight, v * dim + j, s);
        }
    free(start);
    free(order);
    return 0;
}
