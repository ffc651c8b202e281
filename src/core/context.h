/* DECIDES. The context behind every call: the last message, the number of threads, scratch memory, the device. */
#pragma once

#include "core/export.h"
#include "core/failure.h"
#include "core/fault.h"
#include "tokitai.h"

typedef struct tki_gpu tki_gpu;           /* runtime/gpu.h */
typedef struct tki_gpu_info tki_gpu_info; /* runtime/gpu.h */

/* What kernels say that they left out of sums, since it adds nothing: slices of the inner size, and of those that are left, parts
 * of tiles. */
typedef struct tki_left_out {
    int64_t slices, all_slices;
    int64_t parts, all_parts;
} tki_left_out;

struct tk_ctx {
    char message[2048]; /* as it was put together; tk_ctx_message() shows it */
    char shown[2048];
    tki_fault fault; /* behind the message, where a kernel is at fault */
    void (*say)(const tki_failure *failure, char *text, size_t size); /* NULL: nobody reads messages */
    tki_left_out left_out;                                            /* of all calls until somebody clears it */
    int threads;                                                      /* as asked for; 0: all */
    double
        deadline; /* on tki_now()'s clock, of all that is run in other processes or judged for this context; 0: none */
    void *scratch;
    size_t scratch_bytes;
    bool scratch_is_callers;
    tk_note_listener note_listener; /* or NULL */
    void *note_data;
    char *noted; /* [noted_bytes], strings one behind the other: what the listener has been told */
    size_t noted_bytes;
    /* A GPU, once tk_ctx_use_device() has opened one; runtime/gpu_context.c is in charge of these. */
    tki_gpu *gpu;
    const struct tki_backend *backend; /* of the GPU */
    const tki_gpu_info *device;
    void *stream;
    void *device_scratch;
    size_t device_scratch_bytes;
    bool device_scratch_is_callers;
    bool device_scratch_is_in_graph; /* a graph was captured that uses it */
    void **kept_scratch;             /* [kept_scratch_count], blocks that graphs use */
    int kept_scratch_count;
    struct tki_chosen *chosen; /* of this device; runtime/lowering_choice.c is in charge of them; or NULL */
    void (*free_chosen)(tk_ctx *ctx);
    bool ignores_tunings;
    void (*close_device)(tk_ctx *ctx);
    struct tk_made_op *made_ops; /* that programs registered; runtime/register_op.c is in charge of them */
    void (*free_made_ops)(tk_ctx *ctx);
    tk_status (*set_device_scratch)(tk_ctx *ctx, void *memory, size_t bytes);
};

/* tk_ctx_create() for who wants no sentences: it needs nothing but what decides. */
TK_MUST_USE tk_status tki_ctx_create(tk_ctx **ctx);

/* Records the message and returns the status, so that a failure reads
 * `return tki_fail(ctx, TK_..., "...")`. */
TKI_EXPORT __attribute__((format(printf, 3, 4))) tk_status tki_fail(tk_ctx *ctx, tk_status status, const char *format,
                                                                    ...);

/* Tells the listener, if there is one and this is new to it. "" is nothing. */
TKI_EXPORT void tki_note(tk_ctx *ctx, const char *note);

TKI_EXPORT int tki_ctx_threads(const tk_ctx *ctx); /* the number to use now, at least 1 */

/* The deadline of what may take `seconds` from now on. */
TKI_EXPORT double tki_ctx_deadline(const tk_ctx *ctx, double seconds);
TKI_EXPORT bool tki_ctx_out_of_time(const tk_ctx *ctx);
/* TK_TIMEOUT, for what is not run since that deadline is over. */
TKI_EXPORT tk_status tki_ctx_fail_late(tk_ctx *ctx);

/* Makes sure that ctx->scratch holds at least `bytes`. */
TK_MUST_USE tk_status tki_ctx_reserve(tk_ctx *ctx, size_t bytes);
