/* Three ways to run: in this process, on a GPU by way of copies, in a worker. */
#include "executor/executor.h"

#include "core/clock.h"
#include "core/context.h"
#include "core/float_mode.h"
#include "executor/launch.h"

tk_status tki_executor_open(tk_ctx *ctx, const tki_executable *executable, tki_executor *executor)
{
    *executor = (tki_executor){.ctx = ctx, .executable = *executable, .overrun = {.param = -1}};
    const tki_lowering *lowering = executable->lowering;
    if (executable->worker)
        tki_worker_set_context(executable->worker, ctx);
    else if (executable->host_buffers && lowering && lowering->backend->is_gpu)
        return tki_staging_open(ctx, &executor->staging);
    return TK_OK;
}

void tki_executor_close(tki_executor *executor)
{
    tki_staging_close(executor->staging);
    *executor = (tki_executor){0};
}

static tk_status run(tki_executor *executor, const tk_case *c, void *const buffers[], int threads)
{
    const tki_executable *executable = &executor->executable;
    if (executable->lowering)
        return tki_launch(executor->ctx, executable->lowering, c, buffers, threads, false);
    int result = executable->kernel(c, buffers, executable->kernel_data);
    return result ? tki_fail(executor->ctx, TK_UNAVAILABLE, "the kernel reported failure %d", result) : TK_OK;
}

tk_status tki_executor_call(tki_executor *executor, const tk_case *c, void *const buffers[], int threads,
                            double *seconds)
{
    threads = threads ? threads : tki_ctx_threads(executor->ctx);
    if (!executor->executable.lowering && tki_ctx_out_of_time(executor->ctx))
        return tki_ctx_fail_late(executor->ctx);
    if (executor->executable.worker)
        return tki_worker_call(executor->executable.worker, c, buffers, threads, seconds, &executor->overrun);
    if (executor->staging)
        return tki_staging_call(executor->staging, executor->executable.lowering, c, buffers, seconds,
                                &executor->overrun);
    double begin = tki_now();
    const uint64_t mode = tki_float_mode();
    tk_status status = run(executor, c, buffers, threads);
    executor->overrun.left_float_mode = tki_float_mode() != mode;
    if (executor->overrun.left_float_mode)
        tki_float_mode_reset();
    if (!seconds)
        return status;
    if (status == TK_OK)
        status = tk_ctx_synchronize(executor->ctx);
    *seconds = tki_now() - begin;
    return status;
}
