/* The table that each compiled unit of kernel_cpu.c exports. */
#ifndef TKI_OPS_GEMM_KERNEL_CPU_H
#define TKI_OPS_GEMM_KERNEL_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "ops/product/params.h"
#include "tokitai_types.h"

typedef struct tki_gemm_cpu {
    /* `result` is the type of out: `dtype` or TK_F32. A unit for the bf16 dot product takes TK_BF16 only. Scratch is 64-byte
     * aligned and holds scratch_bytes(p, threads); that reads the sizes of p only. */
    void (*product)(const tki_gemm_params *p, tk_dtype dtype, tk_dtype result, void *scratch, int threads);
    size_t (*scratch_bytes)(const tki_gemm_params *p, int threads);
    /* Enough for every product of which no size is larger, on as many threads or fewer; as much for each of them. */
    size_t (*most_scratch_bytes)(const tki_gemm_params *p, int threads);
} tki_gemm_cpu;

#endif
