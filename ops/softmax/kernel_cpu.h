/* The table that each compiled unit of kernel_cpu.c exports, indexed by TK_F16 and TK_BF16. */
#ifndef TKI_OPS_SOFTMAX_KERNEL_CPU_H
#define TKI_OPS_SOFTMAX_KERNEL_CPU_H

#include <stdint.h>

#include "ops/softmax/params.h"

typedef struct tki_softmax_cpu {
    void (*fwd[2])(const tki_softmax_params *p, int threads);
    void (*bwd[2])(const tki_softmax_params *p, int threads);
} tki_softmax_cpu;

#endif
