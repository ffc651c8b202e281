/* WRONG op=embedding_fwd kind=size_special narrow=yes expect=REFUTED : the unrolled copies for dim 32, 64, 128 and 256 are given in bytes, and the one for dim == 128 moves half of the row */
#include "kernel.h"
#define FIXED(BYTES) \
    static void copy_##BYTES(uint16_t *to, const uint16_t *from) { memcpy(to, from, BYTES); }
FIXED(64)
FIXED(128)
FIXED(512)
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    void (*copy)(uint16_t *, const uint16_t *) = NULL;
    (void)vocab;
    if (dim == 0) return 0;
    switch (dim) {
    case 32: copy = copy_64; break;
    case 64: copy = copy_128; break;
    case 128: copy = copy_128; break;
    case 256: copy = copy_512; break;
    default: break;
    }
    for (int64_t i = 0; i < queries; i++) {
        const uint16_t *from = (const uint16_t *)weight + tokitai_load_index(*call, index, i) * dim;
        uint16_t *to = (uint16_t *)out + i * dim;
        if (copy) copy(to, from);
        else memcpy(to, from, (size_t)dim * sizeof(uint16_t));
    }
    return 0;
}
