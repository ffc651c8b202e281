/* The planner: fastest first, portable last, one capability test. */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "core/context.h"

void tki_lowering_id(const tki_lowering *lowering, const tk_case *c, char *text, size_t size)
{
    bool wide_index = tk_contract_takes_index(c->contract) && c->index_dtype == TK_I64;
    snprintf(text, size, "%s.%s.%s.%s%s", lowering->backend, c->contract->name, tk_dtype_name(c->dtype),
             lowering->variant, wide_index ? ".i64" : "");
}

bool tk_lowering_at(const tk_contract *contract, int i, tk_lowering_info *info)
{
    const tki_lowering *row = tki_lowerings_of(contract);
    for (; i > 0 && row->backend; i--)
        row++;
    if (i < 0 || !row->backend)
        return false;
    *info = (tk_lowering_info){row->backend, row->variant, row->determinism, row->promise};
    return true;
}

/* A GPU row runs on the device of the context, so there must be one of its backend. */
static const char *refusal(const tk_ctx *ctx, const tki_lowering *row, const tk_case *c)
{
    if (!strcmp(row->backend, "cpu"))
        return row->accept(c, NULL);
    if (!ctx || strcmp(row->backend, tki_ctx_backend(ctx)) != 0)
        return "the context has no such device; tk_ctx_use_device() opens one";
    return row->accept(c, ctx->device);
}

const char *tk_lowering_refusal(const tk_ctx *ctx, const tk_case *c, int i)
{
    const tki_lowering *row = tki_lowerings_of(c->contract);
    for (; i > 0 && row->backend; i--)
        row++;
    return row->backend && i == 0 ? refusal(ctx, row, c) : "there is no such lowering";
}

const tki_lowering *tki_plan_first(const tk_ctx *ctx, const tk_case *c)
{
    const char *backend = tki_ctx_backend(ctx);
    for (const tki_lowering *row = tki_lowerings_of(c->contract); row->backend; row++)
        if (!strcmp(backend, row->backend) && !refusal(ctx, row, c))
            return row;
    return NULL;
}

void tki_plan_case(const tk_ctx *ctx, const tk_case *c, const char *backend, const char *id, tki_plan *plan)
{
    size_t used = 0;
    plan->lowering = NULL;
    plan->refusals[0] = 0;
    if (!backend)
        backend = tki_ctx_backend(ctx);
    for (const tki_lowering *row = tki_lowerings_of(c->contract); row->backend; row++) {
        char row_id[128];
        tki_lowering_id(row, c, row_id, sizeof row_id);
        if (strcmp(backend, row->backend) != 0 || (id && strcmp(id, row_id) != 0))
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
