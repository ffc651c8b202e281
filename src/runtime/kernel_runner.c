/* CHOOSES. Three ways to run: in this process, on a GPU by way of copies, in a worker. */
#include "runtime/kernel_runner.h"

#include "core/clock.h"
#include "core/context.h"
#include "core/float_mode.h"
#include "runtime/launch.h"

static tk_status call(tki_caller *caller, const tk_case *c, void *const buffers[], int threads, double *seconds)
{
    return tki_runner_call(tki_runner_of(caller), c, buffers, threads, seconds);
}

tk_status tki_runner_open(tk_ctx *ctx, const tki_runnable *executable, tki_runner *runner)
{
    const tki_lowering *lowering = executable->lowering;
    const bool staged = !executable->artifact && executable->host_buffers && lowering && lowering->backend->is_gpu;
    *runner = (tki_runner){
        .caller = {.call = call, .copies = executable->artifact, .leaves_by_rows = staged, .overrun = {.param = -1}},
        .ctx = ctx,
        .executable = *executable};
    if (executable->artifact)
        return tki_worker_open(ctx, executable->artifact, executable->contract, &executable->worker_options,
                               &runner->worker);
    return staged ? tki_staging_open(ctx, &runner->staging) : TK_OK;
}

void tki_runner_close(tki_runner *runner)
{
    tki_worker_close(runner->worker);
    tki_staging_close(runner->staging);
    *runner = (tki_runner){0};
}

static tk_status run(tki_runner *runner, const tk_case *c, void *const buffers[], int threads)
{
    const tki_runnable *executable = &runner->executable;
    if (executable->lowering)
        return tki_launch(runner->ctx, executable->lowering, c, buffers, threads, false);
    int result = executable->kernel(c, buffers, executable->kernel_data);
    if (!result)
        return TK_OK;
    const char *problem = executable->kernel_problem ? executable->kernel_problem(executable->kernel_data) : NULL;
    return problem ? tki_fail(runner->ctx, TK_UNAVAILABLE, "%s", problem)
                   : tki_fail(runner->ctx, TK_UNAVAILABLE, "the kernel reported failure %d", result);
}

tk_status tki_runner_call(tki_runner *runner, const tk_case *c, void *const buffers[], int threads, double *seconds)
{
    threads = threads ? threads : tki_ctx_threads(runner->ctx);
    if (!runner->executable.lowering && tki_ctx_out_of_time(runner->ctx))
        return tki_ctx_fail_late(runner->ctx);
    if (runner->worker)
        return tki_worker_call(runner->worker, c, buffers, threads, seconds, &runner->caller.overrun);
    if (runner->staging)
        return tki_staging_call(runner->staging, runner->executable.lowering, c, buffers, seconds,
                                &runner->caller.overrun);
    double begin = tki_now();
    const uint64_t mode = tki_float_mode();
    tk_status status = run(runner, c, buffers, threads);
    const uint64_t left = tki_float_mode();
    runner->caller.overrun.left = (tki_fault){.tensor = -1};
    if (left != mode) {
        runner->caller.overrun.left = (tki_fault){TKI_FAULT_FLOAT_MODE, .tensor = -1,
                                                  .mode = tki_float_deviations(left)};
        tki_float_mode_reset();
    }
    if (!seconds)
        return status;
    if (status == TK_OK)
        status = tk_ctx_synchronize(runner->ctx);
    *seconds = tki_now() - begin;
    return status;
}

tk_status tki_runner_renew(tki_runner *runner, bool guarded)
{
    return tki_worker_renew(runner->worker, guarded);
}

void tki_runner_prepare(tki_runner *runner, bool guarded)
{
    tki_worker_prepare(runner->worker, guarded);
}

tki_age tki_runner_age(const tki_runner *runner)
{
    return tki_worker_age(runner->worker);
}

const tki_process_state *tki_runner_loading(const tki_runner *runner)
{
    return tki_worker_loading(runner->worker);
}

const tki_confinement *tki_runner_confinement(const tki_runner *runner)
{
    return tki_worker_confinement(runner->worker);
}

tk_status tki_runner_end_coverage(tki_runner *runner)
{
    return tki_worker_end_coverage(runner->worker);
}

const char *tki_runner_sanitizer_log(tki_runner *runner)
{
    return tki_worker_sanitizer_log(runner->worker);
}
