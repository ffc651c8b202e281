/* WRONG op=embedding_fwd kind=read_past_end narrow=yes expect=REFUTED : the last piece of a row is loaded as 16 bytes, which reads past the end of weight for index vocab - 1 when dim % 8 != 0 */
#include "kernel.h"
typedef struct {
    uint64_t word[2];
} piece;
static piece load16(const uint16_t *p) {
    piece v;
    memcpy(&v, p, sizeof v);
    return v;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    for (int64_t i = 0; i < queries; i++) {
        const uint16_t *src = (const uint16_t *)weight + tokitai_load_index(*call, index, i) * dim;
        uint16_t *dst = (uint16_t *)out + i * dim;
        int64_t j = 0;
        for (; j + 8 <= dim; j += 8) {
            const piece v = load16(src + j);
            memcpy(dst + j, &v, sizeof v);
        }
        if (j < dim) {
            volatile piece v = load16(src + j);
            const piece w = v;
            memcpy(dst + j, &w, (size_t)(dim - j) * 2);
        }
    }
    return 0;
}
