/* WRONG op=embedding_fwd kind=nan_canonicalised narrow=no expect=REFUTED : rows are copied through float and back, so that NaN payloads and signalling NaN are not kept */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    for (int64_t i = 0; i < queries; i++) {
        const uint16_t *row = (const uint16_t *)weight + tokitai_load_index(*call, index, i) * dim;
        uint16_t *to = (uint16_t *)out + i * dim;
        int64_t j = 0;
        float v[8];
        for (; j + 8 <= dim; j += 8) {
            for (int k = 0; k < 8; k++) v[k] = tokitai_load(*call, row, j + k);
            for (int k = 0; k < 8; k++) tokitai_store(*call, to, j + k, v[k]);
        }
        for (; j < dim; j++) tokitai_store(*call, to, j, tokitai_load(*call, row, j));
    }
    return 0;
}
