/* RIGHT op=embedding_fwd kind=word_copy_peeled expect=HELD : rows copied in 8-byte words after peeling the destination, through memcpy so that any source alignment is fine */
#include "kernel.h"
static void copy_row(uint16_t *dst, const uint16_t *src, int64_t dim) {
    int64_t j = 0;
    for (; j < dim && ((uintptr_t)(dst + j) & 7) != 0; j++) dst[j] = src[j];
    for (; j + 16 <= dim; j += 16) {
        uint64_t w[4];
        memcpy(w, src + j, sizeof w);
        memcpy(dst + j, w, sizeof w);
    }
    for (; j + 4 <= dim; j += 4) {
        uint64_t w;
        memcpy(&w, src + j, sizeof w);
        memcpy(dst + j, &w, sizeof w);
    }
    for (; j < dim; j++) dst[j] = src[j];
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    for (int64_t i = 0; i < queries; i++)
        copy_row((uint16_t *)out + i * dim, (const uint16_t *)weight + tokitai_load_index(*call, index, i) * dim,
                 dim);
    return 0;
}
