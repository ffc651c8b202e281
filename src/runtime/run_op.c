/* RECORDS. tk_run and the typed calls: preconditions, lowering, launch. */
#include "core/context.h"
#include "model/case.h"
#include "runtime/kernel_runner.h"
#include "runtime/launch.h"
#include "runtime/planner.h"

static tk_status plan_or_fail(tk_ctx *ctx, const tk_case *c, const tki_lowering **lowering)
{
    *lowering = tki_plan_first(ctx, c);
    if (*lowering)
        return TK_OK;
    tki_plan plan;
    tki_plan_case(ctx, c, NULL, NULL, &plan);
    return tki_fail(ctx, TK_UNSUPPORTED, "%s: no lowering takes this case: %s", c->contract->name, plan.refusals);
}

tk_status tk_scratch_size(tk_ctx *ctx, const tk_case *c, size_t *bytes)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!c || !c->contract || !bytes)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no case, no contract or no pointer for the size");
    const tki_lowering *lowering;
    tk_status status = tki_case_check_shape(ctx, c);
    if (status == TK_OK)
        status = plan_or_fail(ctx, c, &lowering);
    if (status == TK_OK)
        *bytes = tki_launch_scratch(ctx, lowering, c, tki_ctx_threads(ctx));
    return status;
}

tk_status tk_run(tk_ctx *ctx, const tk_case *c, void *const buffers[])
{
    const tki_lowering *lowering;
    tki_runner runner;
    tk_status status = tk_case_check(ctx, c, buffers);
    if (status == TK_OK)
        status = plan_or_fail(ctx, c, &lowering);
    if (status == TK_OK)
        status = tki_runner_open(ctx, &(tki_runnable){.lowering = lowering}, &runner);
    if (status != TK_OK)
        return status;
    status = tki_runner_call(&runner, c, buffers, 0, NULL);
    tki_runner_close(&runner);
    return status;
}

tk_status tk_prepare(tk_ctx *ctx, const tk_case *c)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!c || !c->contract)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no case or no contract");
    const tki_lowering *lowering;
    void *const none[TK_MAX_PARAMS] = {0};
    tk_status status = tki_case_check_shape(ctx, c);
    if (status == TK_OK)
        status = plan_or_fail(ctx, c, &lowering);
    return status == TK_OK ? tki_launch(ctx, lowering, c, none, tki_ctx_threads(ctx), true) : status;
}
