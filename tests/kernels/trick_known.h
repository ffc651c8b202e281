/* Inputs that a kernel could know beforehand: those of the first trial of this shape of softmax_fwd in fp16 with TK_SEED_DEFAULT. */
#ifndef TKI_TESTS_KERNELS_TRICK_KNOWN_H
#define TKI_TESTS_KERNELS_TRICK_KNOWN_H

#include <stdint.h>

enum { TRICK_KNOWN_ROWS = 13, TRICK_KNOWN_COLS = 33 };
#define TRICK_KNOWN_HASH UINT64_C(0x18ff4cbac3360494) /* trick_hash() of them */

static inline uint64_t trick_hash(const uint16_t *elements, int64_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int64_t i = 0; i < count; i++)
        hash = (hash ^ elements[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
