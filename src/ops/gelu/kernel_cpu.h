/* The table that each compiled unit of kernel_cpu.c exports, indexed by TK_F16, TK_BF16 and TK_F32. */
#ifndef TKI_OPS_GELU_KERNEL_CPU_H
#define TKI_OPS_GELU_KERNEL_CPU_H

#include <stdint.h>

#include "ops/gelu/params.h"

typedef struct tki_gelu_cpu {
    void (*fwd[3])(const tki_gelu_params *p, int threads);
    void (*bwd[3])(const tki_gelu_params *p, int threads);
} tki_gelu_cpu;

#endif
