/* The planner: fastest first, portable last, one capability test. */
#include "runtime/planner.h"

#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "drivers/backend.h"
#include "model/attributes.h"
#include "model/format.h"

/* NULL past the end. */
static const tki_lowering *row_at(const tk_contract *contract, int i)
{
    const tki_lowering *row = tki_lowerings_of(contract);
    for (; i > 0 && row->backend; i--)
        row++;
    return i == 0 && row->backend ? row : NULL;
}

bool tk_lowering_at(const tk_contract *contract, int i, tk_lowering_info *info)
{
    const tki_lowering *row = row_at(contract, i);
    if (!row)
        return false;
    *info = (tk_lowering_info){row->backend->name, row->variant, row->determinism, row->promise};
    return true;
}

bool tk_lowering_id(const tk_case *c, int i, char *text, size_t size)
{
    const tki_lowering *row = row_at(c->contract, i);
    if (row)
        tki_lowering_id(row, c, text, size);
    return row != NULL;
}

/* Does the case ask for sums in fp32 arithmetic, where the row has another one? The bounds of matrix units are not within those. */
static bool is_asked_for_ieee(const tki_lowering *row, const tk_case *c)
{
    return row->numerics == TKI_NUMERICS_TENSOR_CORE &&
           tki_choice_of_role(c->contract, c->attributes, TK_ROLE_NUMERICS) == TKI_NUMERICS_IEEE;
}

/* A GPU row runs on the device of the context, so there must be one of its backend. */
static const char *refusal(const tk_ctx *ctx, const tki_lowering *row, const tk_case *c)
{
    if (row->only_16_bits && tki_format_of(c->dtype).bits > 16)
        return "takes 16-bit elements only";
    if (is_asked_for_ieee(row, c))
        return "its numerics are tensor_core, not ieee";
    if (row->accept && tki_format_of(c->dtype).bits == 8)
        return "takes no elements of 8 bits";
    if (!row->accept)
        return row->refusal ? row->refusal(c) : NULL;
    if (!row->backend->is_gpu)
        return row->accept(c, NULL);
    if (!ctx || row->backend != tki_ctx_backend(ctx))
        return "the context has no such device open; tk_ctx_use_device() opens one";
    return row->accept(c, ctx->device);
}

const char *tk_lowering_refusal(const tk_ctx *ctx, const tk_case *c, int i)
{
    const tki_lowering *row = row_at(c->contract, i);
    return row ? refusal(ctx, row, c) : "unknown lowering";
}

const tki_lowering *tki_plan_first(const tk_ctx *ctx, const tk_case *c)
{
    const tki_backend *backend = tki_ctx_backend(ctx);
    for (const tki_lowering *row = tki_lowerings_of(c->contract); row->backend; row++)
        if (backend == row->backend && !refusal(ctx, row, c))
            return row;
    return NULL;
}

void tki_plan_case(const tk_ctx *ctx, const tk_case *c, const tki_backend *backend, const char *id, tki_plan *plan)
{
    size_t used = 0;
    plan->lowering = NULL;
    plan->refusals[0] = 0;
    if (!backend)
        backend = tki_ctx_backend(ctx);
    for (const tki_lowering *row = tki_lowerings_of(c->contract); row->backend; row++) {
        char row_id[128];
        tki_lowering_id(row, c, row_id, sizeof row_id);
        if (backend != row->backend || (id && strcmp(id, row_id) != 0))
            continue;
        const char *reason = refusal(ctx, row, c);
        if (!reason) {
            plan->lowering = row;
            return;
        }
        int length = snprintf(plan->refusals + used, sizeof plan->refusals - used, "%s%s: %s", used ? "; " : "",
                              row_id, reason);
        used += length > 0 && (size_t)length < sizeof plan->refusals - used ? (size_t)length : 0;
    }
}
