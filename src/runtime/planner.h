/* RECORDS. From a case to a lowering: the first that accepts it, refusals and their reasons kept. */
#pragma once

#include "core/export.h"
#include "model/lowering.h"

typedef struct tki_plan {
    const tki_lowering *lowering; /* NULL if none accepts */
    char refusals[1024];          /* "cpu.gemm.f16.avx512: no AVX-512; ..." of those before it */
} tki_plan;

/* The first accepting lowering on the context's backend, or NULL; for callers who need no reasons, which take long to write. */
TKI_EXPORT const tki_lowering *tki_plan_first(const tk_ctx *ctx, const tk_case *c);

/* `backend` NULL means the one that the context works on; `id` NULL means any lowering, else exactly that one. */
TKI_EXPORT void tki_plan_case(const tk_ctx *ctx, const tk_case *c, const tki_backend *backend, const char *id,
                              tki_plan *plan);
