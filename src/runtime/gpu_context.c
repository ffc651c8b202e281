/* CHOOSES. A context on a GPU: opening, the stream, scratch and other memory, waiting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "model/case.h"
#include "runtime/gpu.h"
#include "runtime/gpu_context.h"

enum { DEVICE_ALIGNMENT = 256 };

static void close_device(tk_ctx *ctx)
{
    if (!ctx->device_scratch_is_callers)
        tki_gpu_free(ctx->gpu, ctx->device_scratch);
    for (int i = 0; i < ctx->kept_scratch_count; i++)
        tki_gpu_free(ctx->gpu, ctx->kept_scratch[i]);
    free(ctx->kept_scratch);
    ctx->kept_scratch = NULL;
    ctx->kept_scratch_count = 0;
    ctx->device_scratch_is_in_graph = false;
    if (ctx->free_chosen)
        ctx->free_chosen(ctx);
    tki_gpu_close(ctx->gpu);
    ctx->gpu = NULL;
    ctx->backend = NULL;
    ctx->device = NULL;
    ctx->stream = NULL;
    ctx->device_scratch = NULL;
    ctx->device_scratch_bytes = 0;
    ctx->device_scratch_is_callers = false;
    ctx->close_device = NULL;
}

const tki_backend *tki_ctx_backend(const tk_ctx *ctx)
{
    return ctx->gpu ? ctx->backend : &tki_backends[TKI_CPU];
}

/* "cuda:1" into its backend and 1; the CPU has no number. NULL if there is no such device. */
static const tki_backend *parse_device(const char *device, int *ordinal)
{
    const tki_backend *backend = tki_backend_find(device, ":");
    const char *colon = backend ? strchr(device, ':') : NULL;
    *ordinal = 0;
    if (!colon)
        return backend;
    char *end;
    long number = strtol(colon + 1, &end, 10);
    *ordinal = (int)number;
    return backend->is_gpu && colon[1] >= '0' && colon[1] <= '9' && !*end && number < 1024 ? backend : NULL;
}

/* Gives the context's own block up. One that a graph uses is kept until the device is closed: the graph may be launched at any time. */
static tk_status release_scratch(tk_ctx *ctx)
{
    const bool is_kept = ctx->device_scratch_is_in_graph && !ctx->device_scratch_is_callers && ctx->device_scratch;
    if (is_kept) {
        void **grown = realloc(ctx->kept_scratch, (size_t)(ctx->kept_scratch_count + 1) * sizeof *grown);
        if (!grown)
            return tki_fail(ctx, TK_NO_MEMORY, "no memory to keep what a graph uses");
        ctx->kept_scratch = grown;
        ctx->kept_scratch[ctx->kept_scratch_count++] = ctx->device_scratch;
    } else if (!ctx->device_scratch_is_callers) {
        tki_gpu_free(ctx->gpu, ctx->device_scratch);
    }
    ctx->device_scratch = NULL;
    ctx->device_scratch_bytes = 0;
    ctx->device_scratch_is_in_graph = false;
    return TK_OK;
}

static tk_status set_device_scratch(tk_ctx *ctx, void *memory, size_t bytes)
{
    if ((uintptr_t)memory % DEVICE_ALIGNMENT)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "device scratch memory at %p is not %d-byte aligned", memory,
                        DEVICE_ALIGNMENT);
    tk_status status = release_scratch(ctx);
    if (status != TK_OK)
        return status;
    ctx->device_scratch = memory;
    ctx->device_scratch_bytes = memory ? bytes : 0;
    ctx->device_scratch_is_callers = memory != NULL;
    return TK_OK;
}

tk_status tk_ctx_use_device(tk_ctx *ctx, const char *device)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    int ordinal;
    const tki_backend *backend = parse_device(device, &ordinal);
    if (!backend)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "device is '%s'; it must be cpu, cuda, cuda:N, hip or hip:N",
                        device ? device : "");
    if (ctx->gpu)
        close_device(ctx);
    if (!backend->is_gpu)
        return TK_OK;
    tk_status status = tki_gpu_open(ctx, backend, ordinal, &ctx->gpu);
    const char *why = status == TK_OK ? tki_gpu_no_architecture(tki_gpu_describe(ctx->gpu)) : NULL;
    if (why) {
        status = tki_fail(ctx, TK_UNAVAILABLE, "%s cannot be used: %s", device, why);
        tki_gpu_close(ctx->gpu);
    }
    if (status != TK_OK) {
        ctx->gpu = NULL;
        return status;
    }
    ctx->backend = backend;
    ctx->device = tki_gpu_describe(ctx->gpu);
    ctx->close_device = close_device;
    ctx->set_device_scratch = set_device_scratch;
    return TK_OK;
}

tk_status tk_ctx_set_stream(tk_ctx *ctx, void *stream)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!ctx->gpu)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the context's device is the CPU, which has no streams");
    ctx->stream = stream;
    return TK_OK;
}

tk_status tki_device_reserve(tk_ctx *ctx, size_t bytes)
{
    if (bytes == 0)
        return TK_OK;
    bool capturing;
    tk_status status = tki_gpu_is_capturing(ctx, ctx->gpu, ctx->stream, &capturing);
    if (status != TK_OK)
        return status;
    if (bytes <= ctx->device_scratch_bytes) {
        ctx->device_scratch_is_in_graph |= capturing;
        return TK_OK;
    }
    if (ctx->device_scratch_is_callers)
        return tki_fail(ctx, TK_NO_MEMORY, "this call needs %zu bytes of device scratch memory; %zu were given",
                        bytes, ctx->device_scratch_bytes);
    if (capturing)
        return tki_fail(ctx, TK_UNAVAILABLE,
                        "the stream is being captured and scratch memory must be allocated; before the capture "
                        "begins, call tk_prepare(), or tk_run() if a tensor is not at a multiple of 16 bytes");
    /* Earlier work on the stream may still use the old block. */
    if (ctx->device_scratch)
        status = tki_gpu_synchronize(ctx, ctx->gpu, ctx->stream);
    void *memory = NULL;
    if (status == TK_OK)
        status = tki_gpu_alloc(ctx, ctx->gpu, bytes, &memory);
    if (status == TK_OK)
        status = release_scratch(ctx);
    if (status != TK_OK) {
        tki_gpu_free(ctx->gpu, memory);
        return status;
    }
    ctx->device_scratch = memory;
    ctx->device_scratch_bytes = bytes;
    return TK_OK;
}

tk_status tk_ctx_synchronize(tk_ctx *ctx)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!ctx->gpu)
        return TK_OK;
    int op;
    int64_t position;
    tk_status status = tki_gpu_take_fault(ctx, ctx->gpu, ctx->stream, &op, &position);
    if (status != TK_OK || position < 0)
        return status;
    /* The word of an op says where, not in which tensor. */
    const int index = tki_index_param(tk_contract_at(op));
    const bool only = tki_next_index_param(tk_contract_at(op), index) < 0;
    return tki_fail_index(ctx, tk_contract_at(op), only ? index : -1, position, 0, -1);
}

tk_status tk_memory_alloc(tk_ctx *ctx, size_t bytes, void **memory)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!memory)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "`memory` is NULL");
    *memory = NULL;
    if (ctx->gpu)
        return tki_gpu_alloc(ctx, ctx->gpu, bytes ? bytes : 1, memory);
    if (bytes > SIZE_MAX - DEVICE_ALIGNMENT)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu bytes", bytes);
    *memory = aligned_alloc(DEVICE_ALIGNMENT, (bytes + DEVICE_ALIGNMENT) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT);
    return *memory ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu bytes", bytes);
}

void tk_memory_free(tk_ctx *ctx, void *memory)
{
    if (ctx && ctx->gpu)
        tki_gpu_free(ctx->gpu, memory);
    else
        free(memory);
}

typedef tk_status copy_call(tk_ctx *ctx, tki_gpu *gpu, void *stream, void *to, const void *from, size_t bytes);

static tk_status copy(tk_ctx *ctx, copy_call *call, void *to, const void *from, size_t bytes)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (bytes == 0)
        return TK_OK;
    if (!to || !from)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "copying %zu bytes from or to NULL", bytes);
    if (!ctx->gpu) {
        memcpy(to, from, bytes);
        return TK_OK;
    }
    tk_status status = call(ctx, ctx->gpu, ctx->stream, to, from, bytes);
    return status == TK_OK ? tki_gpu_synchronize(ctx, ctx->gpu, ctx->stream) : status;
}

tk_status tk_memory_write(tk_ctx *ctx, void *device, const void *host, size_t bytes)
{
    return copy(ctx, tki_gpu_write, device, host, bytes);
}

tk_status tk_memory_read(tk_ctx *ctx, void *host, const void *device, size_t bytes)
{
    return copy(ctx, tki_gpu_read, host, device, bytes);
}
