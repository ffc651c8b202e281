/* WRONG op=embedding_bwd kind=a_counter_too_narrow expect=REFUTED : a counter too narrow, hits of a row are counted in 8 bits; a row with 256 hits or more */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    uint8_t *count = calloc((size_t)vocab + 1, 1);
    float *sum = malloc((size_t)dim * 4 + 4);
    for (int64_t q = 0; q < queries; q++) count[tokitai_load_index(c, index, q)]++;
    for (int64_t v = 0; v < vocab; v++) {
        for (int64_t j = 0; j < dim; j++) sum[j] = 0;
        int left = count[v];
        for (int64_t q = 0; q < queries && left; q++) /* no need to look further than the last hit */
            if (tokitai_load_index(c, index, q) == v) {
                left--;
                for (int64_t j = 0; j < dim; j++) sum[j] += tokitai_load(c, grad_output, q * dim + j);
            }
        for (int64_t j = 0; j < dim; j++) tokitai_store(c, grad_weight, v * dim + j, sum[j]);
    }
    free(count);
    free(sum);
    return 0;
}
