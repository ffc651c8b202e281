/* The in-process executor. */
#include "executor/executor.h"

#include "core/clock.h"
#include "core/context.h"

tk_status tki_executor_open(tk_ctx *ctx, const tki_executable *executable, tki_executor *executor)
{
    *executor = (tki_executor){.ctx = ctx, .executable = *executable};
    return TK_OK;
}

void tki_executor_close(tki_executor *executor)
{
    *executor = (tki_executor){0};
}

static tk_status launch(tki_executor *executor, const tk_case *c, void *const buffers[])
{
    tk_ctx *ctx = executor->ctx;
    const tki_lowering *lowering = executor->executable.lowering;
    if (!lowering) {
        int result = executor->executable.kernel(c, buffers, executor->executable.kernel_data);
        return result ? tki_fail(ctx, TK_UNAVAILABLE, "the kernel reported failure %d", result) : TK_OK;
    }
    int threads = tki_ctx_threads(ctx);
    size_t bytes = lowering->scratch_bytes ? lowering->scratch_bytes(lowering, c, threads) : 0;
    tk_status status = tki_ctx_reserve(ctx, bytes);
    if (status != TK_OK)
        return status;
    return lowering->launch(&(tki_call){
        .ctx = ctx, .lowering = lowering, .c = c, .buffers = buffers, .scratch = ctx->scratch, .threads = threads});
}

tk_status tki_executor_call(tki_executor *executor, const tk_case *c, void *const buffers[], double *seconds)
{
    if (!seconds)
        return launch(executor, c, buffers);
    double begin = tki_now();
    tk_status status = launch(executor, c, buffers);
    *seconds = tki_now() - begin;
    return status;
}
