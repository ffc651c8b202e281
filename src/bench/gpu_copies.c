/* SHOWS. Copies of a case in device memory. */
#include "bench/gpu_copies.h"

#include <stdlib.h>

#include "core/context.h"
#include "runtime/gpu.h"

enum {
    ALIGNMENT = 256,
    L2_TIMES = 4, /* how often the copies of a case exceed the L2 cache */
    MOST_COPIES = 4096
};

static int64_t align(int64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Draws a beginning on the host; the device repeats it. */
static tk_status fill_values(const bench_copies *s, int param, bench_draw draw)
{
    enum { PERIOD = 1048573 }; /* a prime, so that rows differ */
    tk_ctx *ctx = s->work.ctx;
    char *to = s->first + s->offsets[param];
    const int64_t count = tk_case_elements(&s->work.c, param);
    int64_t done = count < PERIOD ? count : PERIOD;
    const int64_t element = (int64_t)tk_dtype_size(tk_case_param_dtype(&s->work.c, param));
    void *values = malloc((size_t)(element * done));
    if (!values)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for %s", s->work.c.contract->params[param].name);
    draw(&s->work.c, param, values, done);
    tk_status status = tki_gpu_write(ctx, ctx->gpu, ctx->stream, to, values, (size_t)(element * done));
    while (status == TK_OK && done < count) {
        int64_t more = count - done < done ? count - done : done;
        status = tki_gpu_copy(ctx, ctx->gpu, ctx->stream, to + element * done, to, (size_t)(element * more));
        done += more;
    }
    free(values);
    return status;
}

static tk_status fill_indices(const bench_copies *s, int param)
{
    tk_ctx *ctx = s->work.ctx;
    const size_t bytes = (size_t)s->work.bytes[param];
    void *indices = malloc(bytes);
    if (!indices)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for %s", s->work.c.contract->params[param].name);
    bench_draw_indices(&s->work, param, indices);
    tk_status status = tki_gpu_write(ctx, ctx->gpu, ctx->stream, s->first + s->offsets[param], indices, bytes);
    free(indices);
    return status;
}

static tk_status fill(const bench_copies *s)
{
    tk_ctx *ctx = s->work.ctx;
    const tk_contract *contract = s->work.c.contract;
    tk_status status = tki_gpu_fill(ctx, ctx->gpu, ctx->stream, s->first, 0xff, (size_t)(s->stride * s->count));
    for (int p = 0; p < contract->param_count && status == TK_OK; p++) {
        if (contract->params[p].output)
            continue;
        status = contract->params[p].kind == TK_KIND_INDEX ? fill_indices(s, p)
                                                           : fill_values(s, p, bench_draw_values);
        for (int i = 1; i < s->count && status == TK_OK; i++)
            status = tki_gpu_copy(ctx, ctx->gpu, ctx->stream, s->first + i * s->stride + s->offsets[p],
                                  s->first + s->offsets[p], (size_t)s->work.bytes[p]);
    }
    return status;
}

tk_status bench_copies_refill(bench_copies *s, bench_draw draw)
{
    const tk_contract *contract = s->work.c.contract;
    tk_status status = TK_OK;
    for (int p = 0; p < contract->param_count && status == TK_OK; p++)
        if (!contract->params[p].output && contract->params[p].kind != TK_KIND_INDEX)
            status = fill_values(s, p, draw);
    s->next = -1;
    bench_copies_next(s);
    return status;
}

void bench_copies_free(bench_copies *s)
{
    tki_gpu_free(s->work.ctx->gpu, s->first);
    tki_gpu_free(s->work.ctx->gpu, s->sink);
}

void bench_copies_next(bench_copies *s)
{
    s->next = (s->next + 1) % s->count;
    for (int p = 0; p < s->work.c.contract->param_count; p++)
        s->work.buffers[p] = tk_case_has(&s->work.c, p) ? s->first + s->next * s->stride + s->offsets[p] : NULL;
}

int64_t bench_rotated_bytes(const tk_ctx *ctx)
{
    return L2_TIMES * (ctx->device->l2_bytes > 0 ? ctx->device->l2_bytes : INT64_C(64) << 20);
}

tk_status bench_copies_make(tk_ctx *ctx, const tk_case *c, bench_indices indices, int64_t sink_bytes, bench_copies *s)
{
    *s = (bench_copies){.work = {.ctx = ctx, .c = *c, .indices = indices, .threads = 1}};
    bench_work_sizes(&s->work);
    for (int p = 0; p < c->contract->param_count; p++) {
        s->offsets[p] = s->stride;
        s->stride += align(s->work.bytes[p]);
    }
    s->sink_stride = align(sink_bytes);
    const int64_t wanted = 1 + bench_rotated_bytes(ctx) / s->stride;
    s->count = wanted < 2 ? 2 : wanted > MOST_COPIES ? MOST_COPIES : (int)wanted;
    void *memory = NULL;
    tk_status status = tki_gpu_alloc(ctx, ctx->gpu, (size_t)(s->stride * s->count), &memory);
    s->first = memory;
    if (status == TK_OK && sink_bytes > 0) {
        status = tki_gpu_alloc(ctx, ctx->gpu, (size_t)(s->sink_stride * s->count), &memory);
        s->sink = status == TK_OK ? memory : NULL;
    }
    if (status == TK_OK)
        status = fill(s);
    bench_copies_next(s);
    return status == TK_OK ? tk_case_check(ctx, c, s->work.buffers) : status;
}
