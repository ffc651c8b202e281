/* WRONG op=embedding_bwd kind=low_precision_accum narrow=no expect=REFUTED : sums are kept in the 16-bit output itself and rounded after every addition, wrong from three hits on */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    if (vocab == 0 || dim == 0) return 0;
    memset(grad_weight, 0, (size_t)(vocab * dim) * sizeof(uint16_t));
    for (int64_t i = 0; i < queries; i++) {
        const uint16_t *g = (const uint16_t *)grad_output + i * dim;
        uint16_t *to = (uint16_t *)grad_weight + tokitai_load_index(*call, index, i) * dim;
        float a[8], b[8];
        int64_t j = 0;
        for (; j + 8 <= dim; j += 8) {
            for (int k = 0; k < 8; k++) a[k] = tokitai_load(*call, to, j + k);
            for (int k = 0; k < 8; k++) b[k] = tokitai_load(*call, g, j + k);
            for (int k = 0; k < 8; k++) tokitai_store(*call, to, j + k, a[k] + b[k]);
        }
        for (; j < dim; j++) tokitai_store(*call, to, j, tokitai_load(*call, to, j) + tokitai_load(*call, g, j));
    }
    return 0;
}
