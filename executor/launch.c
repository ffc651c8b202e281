/* Launching, on the CPU or on the context's GPU. */
#include "executor/launch.h"

#include "backend/device_context.h"
#include "backend/gpu.h"
#include "core/context.h"

static tk_status launch_on_cpu(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, void *const buffers[],
                               int threads, bool prepare_only)
{
    size_t bytes = lowering->scratch_bytes ? lowering->scratch_bytes(lowering, c, threads) : 0;
    tk_status status = tki_ctx_reserve(ctx, bytes);
    if (status != TK_OK || prepare_only)
        return status;
    return lowering->launch(&(tki_call){
        .ctx = ctx, .lowering = lowering, .c = c, .buffers = buffers, .scratch = ctx->scratch, .threads = threads});
}

/* Each op has its word for bad indices. */
static int op_number(const tk_contract *contract)
{
    int i = 0;
    while (i < tk_contract_count() - 1 && tk_contract_at(i) != contract)
        i++;
    return i;
}

static tk_status launch_on_gpu(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, void *const buffers[],
                               bool prepare_only)
{
    size_t bytes = lowering->scratch_bytes ? lowering->scratch_bytes(lowering, c, 1) : 0;
    tk_status status = tki_device_reserve(ctx, bytes);
    if (status != TK_OK)
        return status;
    return lowering->launch(&(tki_call){.ctx = ctx,
                                        .lowering = lowering,
                                        .c = c,
                                        .buffers = buffers,
                                        .scratch = ctx->device_scratch,
                                        .threads = 1,
                                        .gpu = ctx->gpu,
                                        .stream = ctx->stream,
                                        .fault_word = tki_gpu_fault_word(ctx->gpu, op_number(c->contract)),
                                        .prepare_only = prepare_only});
}

tk_status tki_launch(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, void *const buffers[], int threads,
                     bool prepare_only)
{
    return ctx->gpu && lowering->backend == tki_ctx_backend(ctx)
               ? launch_on_gpu(ctx, lowering, c, buffers, prepare_only)
               : launch_on_cpu(ctx, lowering, c, buffers, threads, prepare_only);
}
