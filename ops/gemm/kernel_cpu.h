/* The table that each compiled unit of kernel_cpu.c exports, indexed by TK_F16 and TK_BF16; NULL where a unit does not
 * take the type. */
#ifndef TKI_OPS_GEMM_KERNEL_CPU_H
#define TKI_OPS_GEMM_KERNEL_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "ops/gemm/params.h"

typedef struct tki_gemm_cpu {
    /* Scratch is 64-byte aligned and holds scratch_bytes(p, threads); that reads the sizes of p only. */
    void (*product[2])(const tki_gemm_params *p, void *scratch, int threads);
    size_t (*scratch_bytes)(const tki_gemm_params *p, int threads);
} tki_gemm_cpu;

#endif
