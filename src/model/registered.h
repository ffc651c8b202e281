/* Ops that a program registers with a context. Their contracts are copies that the context owns, in a struct with what else is known of the
 * op; `contract->registered` points to it. */
#pragma once

#include "core/context.h"
#include "core/export.h"
#include "model/lowering.h"
#include "tokitai.h"

typedef struct tk_registered {
    tk_contract contract;
    tki_lowering rows[2]; /* one, and the end; or the end alone */
    tk_kernel run;        /* NULL: there is no implementation */
    void *run_data;
    void (*judge)(void); /* tk_enclose of tokitai_verify.h; NULL: no exact values are known */
    void *judge_data;
    struct tk_registered *next;
    void *pieces; /* what the contract points to */
} tki_registered;

/* NULL for an op of our own. */
static inline tki_registered *tki_registered_of(const tk_contract *contract)
{
    return (tki_registered *)(uintptr_t)contract->registered;
}

/* Is it ours, or the very one that was registered with this context? A copy of one could have been changed since it was checked. */
static inline bool tki_contract_is_known(const tk_ctx *ctx, const tk_contract *contract)
{
    const tki_registered *op = ctx->registered;
    while (op && &op->contract != contract)
        op = op->next;
    return op || (!contract->registered && contract->name && tk_contract_find(contract->name) == contract);
}
