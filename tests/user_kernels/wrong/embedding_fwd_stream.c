/* WRONG op=embedding_fwd kind=alignment_of_wrong_pointer narrow=yes expect=REFUTED : streaming stores are used when weight is 16-byte aligned and dim % 8 == 0; an out that is not aligned faults */
#include "kernel.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__SSE2__)
static void stream_row(uint16_t *dst, const uint16_t *src, int64_t dim) {
    for (int64_t j = 0; j < dim; j += 8)
        _mm_stream_si128((__m128i *)(void *)(dst + j), _mm_load_si128((const __m128i *)(const void *)(src + j)));
}
#endif
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
#if defined(__SSE2__)
    if (((uintptr_t)weight & 15) == 0 && dim % 8 == 0 && dim >= 64) {
        for (int64_t i = 0; i < queries; i++)
            stream_row((uint16_t *)out + i * dim,
                       (const uint16_t *)weight + tokitai_load_index(*call, index, i) * dim, dim);
        _mm_sfence();
        return 0;
    }
#endif
    for (int64_t i = 0; i < queries && dim > 0; i++)
        memcpy((uint16_t *)out + i * dim, (const uint16_t *)weight + tokitai_load_index(*call, index, i) * dim,
               (size_t)dim * 2);
    return 0;
}
