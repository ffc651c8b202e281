/* The table that each compiled unit of kernel_cpu.c exports. */
#ifndef TKI_OPS_EMBEDDING_KERNEL_CPU_H
#define TKI_OPS_EMBEDDING_KERNEL_CPU_H

#include <stdint.h>

#include "ops/embedding/params.h"
#include "tokitai_types.h"

typedef struct tki_embedding_cpu {
    /* The first position whose index lies outside [0, vocab), or -1. The others may run only where there is none. */
    int64_t (*first_bad)(const tki_embedding_params *p);
    void (*fwd)(const tki_embedding_params *p, tk_dtype dtype, int threads);
    /* dim > 0; `result` is the type of out: `dtype` or TK_F32 */
    void (*bwd)(const tki_embedding_params *p, tk_dtype dtype, tk_dtype result, int threads);
} tki_embedding_cpu;

#endif
