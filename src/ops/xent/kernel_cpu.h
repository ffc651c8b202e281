/* The table that each compiled unit of kernel_cpu.c exports, indexed by TK_F16, TK_BF16 and TK_F32. */
#ifndef TKI_OPS_XENT_KERNEL_CPU_H
#define TKI_OPS_XENT_KERNEL_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "ops/xent/params.h"

typedef struct tki_xent_cpu {
    /* The first row whose target is neither in range nor ignored; -1 if there is none. Writes nothing. */
    int64_t (*first_bad_target)(const tki_xent_params *p, int64_t *value);
    /* Scratch is 64-byte aligned and holds scratch_bytes(cols, threads). */
    void (*run[3])(const tki_xent_params *p, void *scratch, int threads);
    size_t (*scratch_bytes)(int64_t cols, int threads);
} tki_xent_cpu;

#endif
