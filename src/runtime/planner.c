/* RECORDS. The planner: fastest first, portable last, one capability test. */
#include "runtime/planner.h"

#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "drivers/backend.h"
#include "model/attributes.h"
#include "model/format.h"

/* NULL past the end. */
static const tki_lowering *lowering_at(const tk_contract *contract, int i)
{
    const tki_lowering *lowering = tki_lowerings_of(contract);
    for (; i > 0 && lowering->backend; i--)
        lowering++;
    return i == 0 && lowering->backend ? lowering : NULL;
}

bool tk_lowering_at(const tk_contract *contract, int i, tk_lowering_info *info)
{
    const tki_lowering *lowering = lowering_at(contract, i);
    if (!lowering)
        return false;
    *info = (tk_lowering_info){lowering->backend->name, lowering->variant, lowering->determinism, lowering->promise};
    return true;
}

bool tk_lowering_id(const tk_case *c, int i, char *text, size_t size)
{
    const tki_lowering *lowering = lowering_at(c->contract, i);
    if (lowering)
        tki_lowering_id(lowering, c, text, size);
    return lowering != NULL;
}

/* Does the case ask for sums in fp32 arithmetic, where the lowering has another one? The bounds of matrix units are not within those. */
static bool is_asked_for_ieee(const tki_lowering *lowering, const tk_case *c)
{
    return lowering->numerics == TKI_NUMERICS_TENSOR_CORE &&
           tki_choice_of_role(c->contract, c->attributes, TK_ROLE_NUMERICS) == TKI_NUMERICS_IEEE;
}

/* A GPU lowering runs on the device of the context, so there must be one of its backend. */
static const char *refusal(const tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c)
{
    if (lowering->only_16_bits && tki_format_of(c->dtype).bits > 16)
        return "takes 16-bit elements only";
    if (is_asked_for_ieee(lowering, c))
        return "its numerics are tensor_core, not ieee";
    if (lowering->accept && tki_format_of(c->dtype).bits == 8)
        return "takes no elements of 8 bits";
    if (!lowering->accept)
        return lowering->refusal ? lowering->refusal(c) : NULL;
    if (!lowering->backend->is_gpu)
        return lowering->accept(c, NULL);
    if (!ctx || lowering->backend != tki_ctx_backend(ctx))
        return "the context has no such device open; tk_ctx_use_device() opens one";
    return lowering->accept(c, ctx->device);
}

const char *tk_lowering_refusal(const tk_ctx *ctx, const tk_case *c, int i)
{
    const tki_lowering *lowering = lowering_at(c->contract, i);
    return lowering ? refusal(ctx, lowering, c) : "unknown lowering";
}

const tki_lowering *tki_plan_first(const tk_ctx *ctx, const tk_case *c)
{
    const tki_backend *backend = tki_ctx_backend(ctx);
    for (const tki_lowering *lowering = tki_lowerings_of(c->contract); lowering->backend; lowering++)
        if (backend == lowering->backend && !refusal(ctx, lowering, c))
            return lowering;
    return NULL;
}

void tki_plan_case(const tk_ctx *ctx, const tk_case *c, const tki_backend *backend, const char *id, tki_plan *plan)
{
    size_t used = 0;
    plan->lowering = NULL;
    plan->refusals[0] = 0;
    if (!backend)
        backend = tki_ctx_backend(ctx);
    for (const tki_lowering *lowering = tki_lowerings_of(c->contract); lowering->backend; lowering++) {
        char its_id[128];
        tki_lowering_id(lowering, c, its_id, sizeof its_id);
        if (backend != lowering->backend || (id && strcmp(id, its_id) != 0))
            continue;
        const char *reason = refusal(ctx, lowering, c);
        if (!reason) {
            plan->lowering = lowering;
            return;
        }
        int length = snprintf(plan->refusals + used, sizeof plan->refusals - used, "%s%s: %s", used ? "; " : "",
                              its_id, reason);
        used += length > 0 && (size_t)length < sizeof plan->refusals - used ? (size_t)length : 0;
    }
}
