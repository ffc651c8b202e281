/* WRONG op=embedding_fwd kind=rows_copied_in_pieces_of_16_bytes_beyond expect=REFUTED : rows copied in pieces of 16 bytes beyond their end; dim not a multiple of 8: reads and writes outside at the last rows */
#include <emmintrin.h>
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    for (int64_t q = 0; q < queries; q++) {
        const uint16_t *s = (const uint16_t *)weight + tokitai_load_index(*call, index, q) * dim;
        uint16_t *d = (uint16_t *)out + q * dim;
        for (int64_t j = 0; j < dim; j += 8) /* what is too much is written over by the next row */
            _mm_storeu_si128((__m128i *)(d + j), _mm_loadu_si128((const __m128i *)(s + j)));
    }
    return 0;
}
