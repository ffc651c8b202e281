/* DECIDES. An op is one record: contract, implementations, and how kernels of it are judged. Ours are static (ops/registry.c, trials/op_registry.c);
 * those that a program registers are made at run time and belong to a context. Whoever works with an op asks its record, never where the
 * record comes from. */
#pragma once

#include "core/context.h"
#include "core/export.h"
#include "model/lowering.h"
#include "tokitai.h"

typedef struct tki_judging tki_judging; /* trials/op_registry.h: oracle, mutants, variants, hints for trials */

typedef struct tki_op {
    const tk_contract *contract;
    const tki_lowering *lowerings; /* fastest first; ends with a row whose backend is NULL */
    /* Of an op that was made at run time, and can be judged: */
    const tki_judging *judging;
    const struct tk_reference *reference;    /* tokitai_verify.h: the program's functions for exact values */
    const struct tki_definition *definition; /* define/definition.h: what the contract was made from, or NULL */
} tki_op;

/* NULL for a contract that is none of ours and was not registered. */
TKI_EXPORT const tki_op *tki_op_of(const tk_contract *contract);

/* One that was made at run time, with what its parts point to. */
typedef struct tk_made_op {
    tki_op op;
    tk_contract contract;
    struct tk_made_op *next;
    void *pieces;      /* memory that goes with it */
    void *definitions; /* what `definition` is in, and how it is freed */
    void (*free_definitions)(void *definitions);
} tki_made_op;

/* The one of this context; NULL if there is none with this contract. */
static inline tki_made_op *tki_made_op_of(const tk_ctx *ctx, const tk_contract *contract)
{
    tki_made_op *op = ctx ? ctx->made_ops : NULL;
    while (op && &op->contract != contract)
        op = op->next;
    return op;
}

/* Is it ours, or the very one that was registered with this context? A copy of one could have been changed since it was checked. */
static inline bool tki_contract_is_known(const tk_ctx *ctx, const tk_contract *contract)
{
    return tki_made_op_of(ctx, contract) ||
           (!contract->op && contract->name && tk_contract_find(contract->name) == contract);
}

/* Lower-case letters, digits and _, a letter first, at most so many bytes. */
enum { TKI_MOST_NAME = 31 }; /* as frames have room for */
TKI_EXPORT bool tki_is_name(const char *name, size_t most);

/* A copy of `bytes` bytes that is freed with the op; zeros if `data` is NULL. NULL if memory ran out. */
TKI_EXPORT void *tki_made_op_keep(tki_made_op *op, const void *data, size_t bytes);
