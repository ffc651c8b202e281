/* DECIDES. Status, messages, threads and scratch memory. */
#include "core/context.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

#define TK_STRING_(x) #x
#define TK_STRING(x) TK_STRING_(x)

const char *tk_version(void)
{
    return TK_STRING(TK_VERSION_MAJOR) "." TK_STRING(TK_VERSION_MINOR) "." TK_STRING(TK_VERSION_PATCH);
}

const char *tk_status_text(tk_status status)
{
    switch (status) {
    case TK_OK: return "ok";
    case TK_BAD_ARGUMENT: return "bad argument";
    case TK_BAD_INDEX: return "index out of range";
    case TK_BAD_FILE: return "bad file";
    case TK_UNSUPPORTED: return "no implementation accepts this case";
    case TK_UNAVAILABLE: return "not available on this machine";
    case TK_NO_MEMORY: return "out of memory";
    case TK_IO: return "input or output error";
    case TK_KERNEL_FAULT: return "the kernel failed";
    case TK_TIMEOUT: return "out of time";
    case TK_INTERNAL: return "internal error";
    }
    return "unknown status";
}

tk_status tki_ctx_create(tk_ctx **ctx)
{
    *ctx = calloc(1, sizeof **ctx);
    return *ctx ? TK_OK : TK_NO_MEMORY;
}

void tk_ctx_destroy(tk_ctx *ctx)
{
    if (ctx && ctx->close_device)
        ctx->close_device(ctx);
    if (ctx && ctx->free_made_ops)
        ctx->free_made_ops(ctx);
    if (ctx && !ctx->scratch_is_callers)
        free(ctx->scratch);
    if (ctx) {
        free(ctx->noted);
        if (ctx->free_chosen)
            ctx->free_chosen(ctx);
    }
    free(ctx);
}

tk_status tki_fail(tk_ctx *ctx, tk_status status, const char *format, ...)
{
    char raw[sizeof ctx->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    strcpy(ctx->message, raw); /* the old one may be a part of it */
    ctx->fault = (tki_fault){.tensor = -1};
    return status;
}

tk_status tki_fail_by(tk_ctx *ctx, const tki_failure *failure)
{
    char said[sizeof ctx->message] = "";
    if (ctx->say)
        ctx->say(failure, said, sizeof said);
    return tki_fail(ctx, failure->status, "%s", said);
}

tk_status tk_ctx_set_note_listener(tk_ctx *ctx, tk_note_listener listener, void *user_data)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    ctx->note_listener = listener;
    ctx->note_data = user_data;
    return TK_OK;
}

void tki_note(tk_ctx *ctx, const char *note)
{
    size_t bytes = strlen(note) + 1;
    if (!ctx->note_listener || bytes == 1)
        return;
    for (size_t at = 0; at < ctx->noted_bytes; at += strlen(ctx->noted + at) + 1)
        if (!strcmp(ctx->noted + at, note))
            return;
    char *grown = realloc(ctx->noted, ctx->noted_bytes + bytes);
    if (grown) { /* else it may be told twice */
        memcpy(grown + ctx->noted_bytes, note, bytes);
        ctx->noted = grown;
        ctx->noted_bytes += bytes;
    }
    ctx->note_listener(note, ctx->note_data);
}

tk_status tk_ctx_set_threads(tk_ctx *ctx, int threads)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (threads < 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the number of threads is %d; it must be 0 (all) or more", threads);
    ctx->threads = threads;
    return TK_OK;
}

int tki_ctx_threads(const tk_ctx *ctx)
{
    return ctx->threads > 0 ? ctx->threads : omp_get_max_threads();
}

double tki_ctx_deadline(const tk_ctx *ctx, double seconds)
{
    const double own = tki_now() + seconds;
    return ctx->deadline > 0 && ctx->deadline < own ? ctx->deadline : own;
}

bool tki_ctx_out_of_time(const tk_ctx *ctx)
{
    return ctx->deadline > 0 && tki_now() >= ctx->deadline;
}

tk_status tki_ctx_fail_late(tk_ctx *ctx)
{
    return tki_fail(ctx, TK_TIMEOUT, "total time limit reached");
}

tk_status tk_ctx_set_scratch(tk_ctx *ctx, void *memory, size_t bytes)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (ctx->gpu)
        return ctx->set_device_scratch(ctx, memory, bytes);
    if ((uintptr_t)memory % 64)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "scratch memory at %p is not 64-byte aligned", memory);
    if (!ctx->scratch_is_callers)
        free(ctx->scratch);
    ctx->scratch = memory;
    ctx->scratch_bytes = memory ? bytes : 0;
    ctx->scratch_is_callers = memory != NULL;
    return TK_OK;
}

tk_status tki_ctx_reserve(tk_ctx *ctx, size_t bytes)
{
    if (bytes <= ctx->scratch_bytes)
        return TK_OK;
    if (ctx->scratch_is_callers)
        return tki_fail(ctx, TK_NO_MEMORY, "this call needs %zu bytes of scratch memory; %zu were given", bytes,
                        ctx->scratch_bytes);
    if (bytes > SIZE_MAX - 63)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu bytes of scratch", bytes);
    size_t rounded = (bytes + 63) / 64 * 64;
    void *memory = aligned_alloc(64, rounded);
    if (!memory)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu bytes of scratch", bytes);
    free(ctx->scratch);
    ctx->scratch = memory;
    ctx->scratch_bytes = rounded;
    return TK_OK;
}
