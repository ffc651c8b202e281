/* WRONG op=embedding_fwd kind=indices_narrowed_to_16_bits_in_a_staging expect=REFUTED : indices narrowed to 16 bits in a staging buffer; vocab > 65536 */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    uint16_t stage[256];
    for (int64_t q = 0; q < queries; q += 256) {
        const int64_t w = queries - q < 256 ? queries - q : 256;
        for (int64_t i = 0; i < w; i++) stage[i] = (uint16_t)tokitai_load_index(*call, index, q + i);
        for (int64_t i = 0; i < w; i++)
            memcpy((uint16_t *)out + (q + i) * dim, (const uint16_t *)weight + (int64_t)stage[i] * dim,
                   (size_t)dim * 2);
    }
    return 0;
}
