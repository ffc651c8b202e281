/* WRONG op=embedding_fwd kind=fixed_dim_case narrow=yes expect=REFUTED : unrolled copies for usual dims; that of dim = 96 was made from that of 64 and copies 80 columns only */
#include <emmintrin.h>
#include "kernel.h"
#define L(k) _mm_loadu_si128((const __m128i *)s + (k))
#define S(k, v) _mm_storeu_si128((__m128i *)d + (k), v)
#define COPY4(k)                                                          \
    do {                                                                  \
        const __m128i a = L(k), b = L(k + 1), c = L(k + 2), e = L(k + 3); \
        S(k, a);                                                          \
        S(k + 1, b);                                                      \
        S(k + 2, c);                                                      \
        S(k + 3, e);                                                      \
    } while (0)
#define COPY2(k)                              \
    do {                                      \
        const __m128i a = L(k), b = L(k + 1); \
        S(k, a);                              \
        S(k + 1, b);                          \
    } while (0)
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    const uint16_t *w = weight;
    uint16_t *d = out;
    for (int64_t i = 0; i < queries; i++, d += dim) {
        const uint16_t *s = w + tokitai_load_index(*call, index, i) * dim;
        switch (dim) {
        case 32: COPY4(0); break;
        case 64:
            COPY4(0);
            COPY4(4);
            break;
        case 96:
            COPY4(0);
            COPY4(4);
            COPY2(8);
            break;
        case 128:
            COPY4(0);
            COPY4(4);
            COPY4(8);
            COPY4(12);
            break;
        default: memcpy(d, s, (size_t)dim * 2);
        }
    }
    return 0;
}
