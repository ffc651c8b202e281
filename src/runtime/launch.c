/* UNTRUSTED. Launching, on the CPU or on the context's GPU. */
#include "runtime/launch.h"

#include "core/context.h"
#include "runtime/gpu.h"
#include "runtime/gpu_context.h"
#include "runtime/lowering_choice.h"

static size_t scratch_of(const tki_call *call)
{
    return call->lowering->scratch_bytes ? call->lowering->scratch_bytes(call) : 0;
}

static bool is_on_gpu(const tk_ctx *ctx, const tki_lowering *lowering)
{
    return ctx->gpu && lowering->backend == tki_ctx_backend(ctx);
}

/* Without scratch memory, and with buffers that are all NULL. */
static tki_call call_of(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, int threads)
{
    static void *const none[TK_MAX_PARAMS];
    const bool on_gpu = is_on_gpu(ctx, lowering);
    return (tki_call){.ctx = ctx,
                      .lowering = lowering,
                      .c = c,
                      .buffers = none,
                      .choice = tki_chosen_for(ctx, lowering, c),
                      .threads = on_gpu ? 1 : threads,
                      .gpu = on_gpu ? ctx->gpu : NULL,
                      .stream = on_gpu ? ctx->stream : NULL};
}

size_t tki_launch_scratch(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, int threads)
{
    const tki_call call = call_of(ctx, lowering, c, threads);
    return scratch_of(&call);
}

/* Each op of the list has its word for bad indices; NULL: it is none of these. */
static uint64_t *fault_word_of(tki_gpu *gpu, const tk_contract *contract)
{
    for (int i = 0; i < tk_contract_count(); i++)
        if (tk_contract_at(i) == contract)
            return tki_gpu_fault_word(gpu, i);
    return NULL;
}

tk_status tki_launch(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, void *const buffers[], int threads,
                     bool prepare_only)
{
    tki_call call = call_of(ctx, lowering, c, threads);
    call.buffers = buffers;
    const size_t bytes = scratch_of(&call);
    tk_status status = call.gpu ? tki_device_reserve(ctx, bytes) : tki_ctx_reserve(ctx, bytes);
    if (status != TK_OK || (prepare_only && !call.gpu))
        return status;
    call.scratch = call.gpu ? ctx->device_scratch : ctx->scratch;
    call.fault_word = call.gpu ? fault_word_of(ctx->gpu, c->contract) : NULL;
    call.left_out_words = call.gpu ? tki_gpu_left_out_words(ctx->gpu) : NULL;
    call.prepare_only = prepare_only;
    return lowering->launch(&call);
}
