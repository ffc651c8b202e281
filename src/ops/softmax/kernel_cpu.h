/* The table that each compiled unit of kernel_cpu.c exports, indexed by TK_F16, TK_BF16 and TK_F32. */
#ifndef TKI_OPS_SOFTMAX_KERNEL_CPU_H
#define TKI_OPS_SOFTMAX_KERNEL_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "ops/softmax/params.h"

typedef struct tki_softmax_cpu {
    /* Scratch is 64-byte aligned and holds fwd_scratch_bytes(cols, threads). */
    void (*fwd[3])(const tki_softmax_params *p, void *scratch, int threads);
    size_t (*fwd_scratch_bytes)(int64_t cols, int threads);
    void (*bwd[3])(const tki_softmax_params *p, int threads);
} tki_softmax_cpu;

#endif
