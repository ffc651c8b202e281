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
    const tki_lowering *lowerings; /* fastest first; ends with one whose backend is NULL */
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
    bool unnamed;       /* a certificate's: not found by its name, so that it is in nobody's way */
    void *pieces;       /* memory that goes with it */
    bool is_incomplete; /* it did not suffice */
    void *definitions;  /* what `definition` is in, and how it is freed */
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

/* Registers under a name that another op of the context may have; tk_ctx_contract_find() does not find it. */
tk_status tki_contract_register_unnamed(tk_ctx *ctx, const tk_contract *contract, const tk_contract **registered);

/* tk_op_define() of a normal form, without a claim to the name. TK_BAD_ARGUMENT: it is not the normal form of an op of this name. */
TKI_EXPORT tk_status tki_op_define_unnamed(tk_ctx *ctx, const char *text, const char *name,
                                           const tk_contract **contract);

/* Is it an op that comes with the library as a definition, in this form? Its name is enough then. */
TKI_EXPORT bool tki_definition_comes_along(const tk_contract *contract);

/* The op of the context with this normal form; NULL. */
TKI_EXPORT const tk_contract *tki_op_defined_by(const tk_ctx *ctx, const char *text);

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
TKI_EXPORT const char *tki_made_op_keep_text(tki_made_op *op, const char *text); /* NULL of NULL */
