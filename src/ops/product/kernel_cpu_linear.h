/* The table that each compiled unit of kernel_cpu.c exports. */
#ifndef TKI_OPS_LINEAR_KERNEL_CPU_H
#define TKI_OPS_LINEAR_KERNEL_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "ops/product/params.h"
#include "tokitai_types.h"

typedef struct tki_linear_cpu {
    /* `result` is the type of out: `dtype` or TK_F32. A unit for the bf16 dot product takes TK_BF16 only. Scratch is 64-byte
     * aligned and holds scratch_bytes(p, threads); that reads the sizes of p only. */
    void (*layer)(const tki_linear_params *p, tk_dtype dtype, tk_dtype result, void *scratch, int threads);
    size_t (*scratch_bytes)(const tki_linear_params *p, int threads);
} tki_linear_cpu;

#endif
