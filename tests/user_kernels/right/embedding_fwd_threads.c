/* RIGHT op=embedding_fwd kind=threads expect=HELD : threads, prefetch of the next row, 16 bytes at a time with a tail */
#include <emmintrin.h>
#include "threads.h"
typedef struct {
    tokitai_call c;
    int64_t dim;
    const void *ix;
    const uint16_t *w;
    uint16_t *o;
} args;
static void work(void *p, int64_t b, int64_t e) {
    const args *a = p;
    for (int64_t q = b; q < e; q++) {
        const uint16_t *s = a->w + tokitai_load_index(a->c, a->ix, q) * a->dim;
        uint16_t *d = a->o + q * a->dim;
        if (q + 1 < e) __builtin_prefetch(a->w + tokitai_load_index(a->c, a->ix, q + 1) * a->dim);
        int64_t j = 0;
        for (; j + 8 <= a->dim; j += 8)
            _mm_storeu_si128((__m128i *)(d + j), _mm_loadu_si128((const __m128i *)(s + j)));
        for (; j < a->dim; j++) d[j] = s[j];
    }
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    args a = {*call, dim, index, weight, out};
    parallel_for(call->threads, queries, work, &a);
    return 0;
}
