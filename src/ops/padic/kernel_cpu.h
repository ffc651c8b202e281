/* The table that each compiled unit of kernel_cpu.c exports. */
#ifndef TKI_OPS_PADIC_KERNEL_CPU_H
#define TKI_OPS_PADIC_KERNEL_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "ops/padic/params.h"

/* What a product left out. */
typedef struct tki_padic_skipped {
    int64_t slices; /* places of the inner size at which every term vanishes */
    int64_t parts;  /* of tiles, 32 places of the others each */
    int64_t all_parts;
} tki_padic_skipped;

typedef struct tki_padic_cpu {
    size_t (*scratch_bytes)(const tki_padic_params *p, int threads);
    /* `skipped` may be NULL. */
    void (*product)(const tki_padic_params *p, void *scratch, int threads, tki_padic_skipped *skipped);
} tki_padic_cpu;

#endif
