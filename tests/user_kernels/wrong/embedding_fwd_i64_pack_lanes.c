/* WRONG op=embedding_fwd kind=i64_pack_lanes narrow=yes expect=REFUTED : eight i64 indices are packed to 32 bits with shuffle_ps, which works within 128-bit lanes, without the permute after it: queries 2, 3, 4, 5 of each eight are mixed up (i64, queries >= 8) */
#include <immintrin.h>
#include "kernel.h"
__attribute__((target("avx2"))) static void eight(const void *index, int64_t at, int i64, int32_t *v) {
    if (i64) {
        const int64_t *p = (const int64_t *)index + at;
        const __m256 a = _mm256_loadu_ps((const float *)p), b = _mm256_loadu_ps((const float *)(p + 4));
        _mm256_storeu_ps((float *)v, _mm256_shuffle_ps(a, b, 0x88)); /* low halves */
    } else _mm256_storeu_si256((__m256i *)v, _mm256_loadu_si256((const __m256i *)((const int32_t *)index + at)));
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    const uint16_t *w = weight;
    uint16_t *o = out;
    int64_t i = 0;
    for (; i + 8 <= queries; i += 8) {
        int32_t v[8];
        eight(index, i, call->index_dtype == TOKITAI_I64, v);
        for (int k = 0; k < 8; k++) __builtin_prefetch(w + v[k] * dim);
        for (int k = 0; k < 8; k++, o += dim) memcpy(o, w + v[k] * dim, (size_t)dim * 2);
    }
    for (; i < queries; i++, o += dim) memcpy(o, w + tokitai_load_index(*call, index, i) * dim, (size_t)dim * 2);
    return 0;
}
