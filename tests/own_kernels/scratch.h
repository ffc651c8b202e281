/* What the library's own kernels are given by their lowerings, for those that are kernel files (tests/own_kernels.sh). */
#ifndef OWN_KERNELS_SCRATCH_H
#define OWN_KERNELS_SCRATCH_H

#include <stdlib.h>
#include <tokitai_kernel.h>

/* 64-byte aligned; NULL only where memory ran out. */
static inline void *get_scratch(size_t bytes)
{
    return aligned_alloc(64, (bytes + 64) / 64 * 64);
}

#endif
