/* WRONG op=embedding_fwd kind=aligned_16_byte_moves_wherever_dim_is_a expect=REFUTED : aligned 16-byte moves wherever dim is a multiple of 8; buffers not at a multiple of 16: crash */
#include <emmintrin.h>
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    for (int64_t q = 0; q < queries; q++) {
        const uint16_t *s = (const uint16_t *)weight + tokitai_load_index(*call, index, q) * dim;
        uint16_t *d = (uint16_t *)out + q * dim;
        if (dim % 8 == 0)
            for (int64_t j = 0; j < dim; j += 8)
                _mm_store_si128((__m128i *)(d + j), _mm_load_si128((const __m128i *)(s + j)));
        else memcpy(d, s, (size_t)dim * 2);
    }
    return 0;
}
