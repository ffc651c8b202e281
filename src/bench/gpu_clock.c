/* SHOWS. Events in a queue that is kept busy. */
#include "bench/gpu_clock.h"

#include <math.h>
#include <stdio.h>

#include "core/context.h"
#include "runtime/gpu.h"
#include "runtime/planner.h"

/* So long a sample should take. */
static const double SAMPLE_SECONDS = 5e-4;

/* A product of two long vectors is one block at work for a few hundred microseconds, hardly touching memory: what is queued
 * behind it begins without waiting for the processor. */
static tk_status make_delay(bench_clock *k)
{
    enum { LENGTH = 8192, ALIGNMENT = 256 };
    tki_plan plan;
    k->delay_case = tk_case_init(tk_contract_find("gemm"), TK_F16);
    k->delay_case.dims[0] = k->delay_case.dims[1] = 1;
    k->delay_case.dims[2] = LENGTH;
    char id[64];
    snprintf(id, sizeof id, "%s.gemm.f16.shared", k->ctx->backend->name);
    tki_plan_case(k->ctx, &k->delay_case, NULL, id, &plan);
    if (!plan.lowering)
        return tki_fail(k->ctx, TK_UNSUPPORTED, "%s: %s", id, plan.refusals);
    tk_status status = tki_runner_open(k->ctx, &(tki_runnable){.lowering = plan.lowering}, &k->delay);
    const size_t bytes = 2 * LENGTH * sizeof(uint16_t) + ALIGNMENT;
    if (status == TK_OK)
        status = tki_gpu_alloc(k->ctx, k->ctx->gpu, bytes, &k->delay_vectors);
    if (status == TK_OK)
        status = tki_gpu_fill(k->ctx, k->ctx->gpu, k->ctx->stream, k->delay_vectors, 0, bytes);
    return status;
}

static tk_status delay(bench_clock *k)
{
    uint16_t *vectors = k->delay_vectors;
    const int64_t length = k->delay_case.dims[2];
    return tki_runner_call(&k->delay, &k->delay_case, (void *[]){vectors, vectors + length, vectors + 2 * length}, 0,
                           NULL);
}

tk_status bench_clock_open(tk_ctx *ctx, bench_clock *k)
{
    *k = (bench_clock){.ctx = ctx};
    tk_status status = tki_gpu_event_create(ctx, ctx->gpu, &k->begin);
    if (status == TK_OK)
        status = tki_gpu_event_create(ctx, ctx->gpu, &k->end);
    return status == TK_OK ? make_delay(k) : status;
}

void bench_clock_close(bench_clock *k)
{
    if (!k->ctx)
        return;
    tki_runner_close(&k->delay);
    tki_gpu_free(k->ctx->gpu, k->delay_vectors);
    if (k->begin)
        tki_gpu_event_destroy(k->ctx->gpu, k->begin);
    if (k->end)
        tki_gpu_event_destroy(k->ctx->gpu, k->end);
}

tk_status bench_clock_sample(bench_clock *k, int64_t calls, bench_queue queue, void *data, double *seconds)
{
    tk_ctx *ctx = k->ctx;
    tk_status status = delay(k);
    if (status == TK_OK)
        status = tki_gpu_event_record(ctx, ctx->gpu, k->begin, ctx->stream);
    for (int64_t i = 0; i < calls && status == TK_OK; i++)
        status = queue(data);
    if (status == TK_OK)
        status = tki_gpu_event_record(ctx, ctx->gpu, k->end, ctx->stream);
    if (status == TK_OK)
        status = tki_gpu_event_seconds(ctx, ctx->gpu, k->begin, k->end, seconds);
    *seconds /= (double)calls;
    return status;
}

int64_t bench_calls_of_a_sample(double seconds_of_a_call)
{
    const double calls = ceil(SAMPLE_SECONDS / fmax(seconds_of_a_call, 1e-7));
    return calls < BENCH_LEAST_CALLS  ? BENCH_LEAST_CALLS
           : calls > BENCH_MOST_CALLS ? BENCH_MOST_CALLS
                                      : (int64_t)calls;
}
