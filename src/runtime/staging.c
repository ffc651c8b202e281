/* CHOOSES. Guarded device memory: one block that grows, each buffer between two red zones, at the alignment that it has on the host and at
 * another address every time. Reads outside a buffer cannot be seen this way; compute-sanitizer sees them. */
#include "runtime/staging.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "runtime/gpu.h"
#include "runtime/launch.h"

enum { ZONE = 4096, ALIGNMENT = 256, DRIFT = 7 };

struct tki_staging {
    tk_ctx *ctx;
    char *block; /* device memory */
    size_t block_bytes;
    void *begin, *end; /* events */
    unsigned calls;
};

tk_status tki_staging_open(tk_ctx *ctx, tki_staging **staging)
{
    tki_staging *s = calloc(1, sizeof *s);
    *staging = NULL;
    if (!s)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a runner");
    s->ctx = ctx;
    tk_status status = tki_gpu_event_create(ctx, ctx->gpu, &s->begin);
    if (status == TK_OK)
        status = tki_gpu_event_create(ctx, ctx->gpu, &s->end);
    if (status != TK_OK) {
        tki_staging_close(s);
        return status;
    }
    *staging = s;
    return TK_OK;
}

void tki_staging_close(tki_staging *staging)
{
    if (!staging)
        return;
    tki_gpu *gpu = staging->ctx->gpu;
    if (staging->begin)
        tki_gpu_event_destroy(gpu, staging->begin);
    if (staging->end)
        tki_gpu_event_destroy(gpu, staging->end);
    tki_gpu_free(gpu, staging->block);
    free(staging);
}

/* Where each buffer lies; one that shares its host address with an earlier one shares its copy too. */
typedef struct layout {
    size_t offset[TK_MAX_PARAMS];
    size_t bytes[TK_MAX_PARAMS];
    int same_as[TK_MAX_PARAMS]; /* -1: it has a copy of its own */
    size_t total;
} layout;

static bool lay_out(const tk_case *c, void *const buffers[], unsigned calls, layout *l)
{
    size_t place = ZONE + (size_t)(calls % DRIFT) * ALIGNMENT;
    for (int p = 0; p < c->contract->param_count; p++) {
        l->bytes[p] = (size_t)tk_case_elements(c, p) * tk_dtype_size(tk_case_param_dtype(c, p));
        l->same_as[p] = -1;
        for (int q = 0; q < p; q++)
            if (buffers[p] == buffers[q] && l->bytes[p] && l->bytes[q])
                l->same_as[p] = q;
        if (l->same_as[p] >= 0) {
            l->offset[p] = l->offset[l->same_as[p]];
            continue;
        }
        place = (place + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        l->offset[p] = place + (uintptr_t)buffers[p] % ALIGNMENT;
        if (__builtin_add_overflow(l->offset[p], l->bytes[p] + 2 * ZONE, &place))
            return false;
    }
    l->total = place;
    return true;
}

static tk_status reserve(tki_staging *s, size_t bytes)
{
    if (bytes <= s->block_bytes)
        return TK_OK;
    tk_ctx *ctx = s->ctx;
    tki_gpu_free(ctx->gpu, s->block);
    s->block = NULL;
    s->block_bytes = 0;
    void *block = NULL;
    tk_status status = tki_gpu_alloc(ctx, ctx->gpu, bytes, &block);
    if (status == TK_OK) {
        s->block = block;
        s->block_bytes = bytes;
    }
    return status;
}

/* Every buffer has zones of its own, so that a kernel that copies too much does not copy what was there. */
static unsigned char zone_of(unsigned char zone, int param)
{
    return (unsigned char)(zone + 0x51 * param);
}

static tk_status upload(tki_staging *s, const tk_case *c, void *const buffers[], const layout *l, unsigned char zone)
{
    tk_ctx *ctx = s->ctx;
    tk_status status = TK_OK;
    for (int p = 0; p < c->contract->param_count && status == TK_OK; p++) {
        if (l->same_as[p] >= 0)
            continue;
        char *data = s->block + l->offset[p];
        status = tki_gpu_fill(ctx, ctx->gpu, ctx->stream, data - ZONE, zone_of(zone, p), ZONE);
        if (status == TK_OK)
            status = tki_gpu_fill(ctx, ctx->gpu, ctx->stream, data + l->bytes[p], zone_of(zone, p), ZONE);
        if (status == TK_OK && l->bytes[p])
            status = tki_gpu_write(ctx, ctx->gpu, ctx->stream, data, buffers[p], l->bytes[p]);
    }
    return status;
}

static tk_status check_zone(tki_staging *s, const char *device, unsigned char zone, int param, int64_t offset,
                            tki_overrun *overrun)
{
    unsigned char seen[ZONE];
    tk_ctx *ctx = s->ctx;
    tk_status status = tki_gpu_read(ctx, ctx->gpu, ctx->stream, seen, device, ZONE);
    if (status == TK_OK)
        status = tki_gpu_synchronize(ctx, ctx->gpu, ctx->stream);
    for (int i = 0; i < ZONE && status == TK_OK && overrun->param < 0; i++)
        if (seen[i] != zone)
            *overrun = (tki_overrun){.param = param, .offset = offset + i};
    return status;
}

static tk_status download(tki_staging *s, const tk_case *c, void *const buffers[], const layout *l,
                          unsigned char zone, tki_overrun *overrun)
{
    tk_ctx *ctx = s->ctx;
    tk_status status = TK_OK;
    for (int p = 0; p < c->contract->param_count && status == TK_OK; p++) {
        if (l->same_as[p] >= 0)
            continue;
        const char *data = s->block + l->offset[p];
        if (l->bytes[p])
            status = tki_gpu_read(ctx, ctx->gpu, ctx->stream, buffers[p], data, l->bytes[p]);
        if (status == TK_OK)
            status = check_zone(s, data - ZONE, zone_of(zone, p), p, -ZONE, overrun);
        if (status == TK_OK)
            status = check_zone(s, data + l->bytes[p], zone_of(zone, p), p, (int64_t)l->bytes[p], overrun);
    }
    return status;
}

tk_status tki_staging_call(tki_staging *staging, const tki_lowering *lowering, const tk_case *c,
                           void *const buffers[], double *seconds, tki_overrun *overrun)
{
    tk_ctx *ctx = staging->ctx;
    layout l;
    unsigned char zone = (unsigned char)(0xc3 ^ staging->calls * 29);
    *overrun = (tki_overrun){.param = -1};
    if (!lay_out(c, buffers, staging->calls++, &l))
        return tki_fail(ctx, TK_NO_MEMORY, "the buffers of this case do not fit into the address space");
    tk_status status = reserve(staging, l.total);
    if (status == TK_OK)
        status = upload(staging, c, buffers, &l, zone);
    void *copies[TK_MAX_PARAMS];
    for (int p = 0; p < c->contract->param_count; p++)
        copies[p] = staging->block + l.offset[p];
    /* Loading a kernel is not part of its time. */
    if (status == TK_OK)
        status = tki_launch(ctx, lowering, c, copies, 1, true);
    if (status == TK_OK)
        status = tki_gpu_event_record(ctx, ctx->gpu, staging->begin, ctx->stream);
    if (status == TK_OK)
        status = tki_launch(ctx, lowering, c, copies, 1, false);
    if (status == TK_OK)
        status = tki_gpu_event_record(ctx, ctx->gpu, staging->end, ctx->stream);
    if (status != TK_OK)
        return status;
    /* A bad index is reported here; what the kernel wrote before is still to be seen by the judge. */
    tk_status answer = tk_ctx_synchronize(ctx);
    if (answer != TK_OK && answer != TK_BAD_INDEX)
        return answer;
    char message[sizeof ctx->message];
    memcpy(message, ctx->message, sizeof message);
    status = download(staging, c, buffers, &l, zone, overrun);
    if (status == TK_OK && seconds)
        status = tki_gpu_event_seconds(ctx, ctx->gpu, staging->begin, staging->end, seconds);
    if (status == TK_OK && answer != TK_OK)
        memcpy(ctx->message, message, sizeof message);
    return status == TK_OK ? answer : status;
}
