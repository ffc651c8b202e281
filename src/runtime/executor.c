/* CHOOSES. Three ways to run: in this process, on a GPU by way of copies, in a worker. */
#include "runtime/executor.h"

#include "core/clock.h"
#include "core/context.h"
#include "core/float_mode.h"
#include "runtime/launch.h"

static tk_status call(tki_caller *caller, const tk_case *c, void *const buffers[], int threads, double *seconds)
{
    return tki_executor_call(tki_executor_of(caller), c, buffers, threads, seconds);
}

tk_status tki_executor_open(tk_ctx *ctx, const tki_executable *executable, tki_executor *executor)
{
    const tki_lowering *lowering = executable->lowering;
    const bool staged = !executable->artifact && executable->host_buffers && lowering && lowering->backend->is_gpu;
    *executor = (tki_executor){
        .caller = {.call = call, .copies = executable->artifact, .leaves_by_rows = staged, .overrun = {.param = -1}},
        .ctx = ctx,
        .executable = *executable};
    if (executable->artifact)
        return tki_worker_open(ctx, executable->artifact, executable->contract, &executable->worker_options,
                               &executor->worker);
    return staged ? tki_staging_open(ctx, &executor->staging) : TK_OK;
}

void tki_executor_close(tki_executor *executor)
{
    tki_worker_close(executor->worker);
    tki_staging_close(executor->staging);
    *executor = (tki_executor){0};
}

static tk_status run(tki_executor *executor, const tk_case *c, void *const buffers[], int threads)
{
    const tki_executable *executable = &executor->executable;
    if (executable->lowering)
        return tki_launch(executor->ctx, executable->lowering, c, buffers, threads, false);
    int result = executable->kernel(c, buffers, executable->kernel_data);
    if (!result)
        return TK_OK;
    const char *problem = executable->kernel_problem ? executable->kernel_problem(executable->kernel_data) : NULL;
    return problem ? tki_fail(executor->ctx, TK_UNAVAILABLE, "%s", problem)
                   : tki_fail(executor->ctx, TK_UNAVAILABLE, "the kernel reported failure %d", result);
}

tk_status tki_executor_call(tki_executor *executor, const tk_case *c, void *const buffers[], int threads,
                            double *seconds)
{
    threads = threads ? threads : tki_ctx_threads(executor->ctx);
    if (!executor->executable.lowering && tki_ctx_out_of_time(executor->ctx))
        return tki_ctx_fail_late(executor->ctx);
    if (executor->worker)
        return tki_worker_call(executor->worker, c, buffers, threads, seconds, &executor->caller.overrun);
    if (executor->staging)
        return tki_staging_call(executor->staging, executor->executable.lowering, c, buffers, seconds,
                                &executor->caller.overrun);
    double begin = tki_now();
    const uint64_t mode = tki_float_mode();
    tk_status status = run(executor, c, buffers, threads);
    const uint64_t left = tki_float_mode();
    executor->caller.overrun.left = (tki_fault){.tensor = -1};
    if (left != mode) {
        executor->caller.overrun.left = (tki_fault){TKI_FAULT_FLOAT_MODE, .tensor = -1, .mode = left};
        tki_float_mode_reset();
    }
    if (!seconds)
        return status;
    if (status == TK_OK)
        status = tk_ctx_synchronize(executor->ctx);
    *seconds = tki_now() - begin;
    return status;
}

tk_status tki_executor_renew(tki_executor *executor, bool guarded)
{
    return tki_worker_renew(executor->worker, guarded);
}

void tki_executor_prepare(tki_executor *executor, bool guarded)
{
    tki_worker_prepare(executor->worker, guarded);
}

const tki_process_state *tki_executor_loading(const tki_executor *executor)
{
    return tki_worker_loading(executor->worker);
}

const tki_confinement *tki_executor_confinement(const tki_executor *executor)
{
    return tki_worker_confinement(executor->worker);
}

tk_status tki_executor_end_coverage(tki_executor *executor)
{
    return tki_worker_end_coverage(executor->worker);
}

const char *tki_executor_sanitizer_log(tki_executor *executor)
{
    return tki_worker_sanitizer_log(executor->worker);
}
