/* gelu: which kernel runs on what, and the typed calls. */
#include "backend/cpu.h"
#include "backend/gpu.h"
#include "ops/gelu/kernel_cpu.h"
#include "ops/gelu/launch_gpu.h"

extern const tk_contract tki_gelu_fwd_contract;
extern const tk_contract tki_gelu_bwd_contract;

TKI_CPU_TABLES(tki_gelu_cpu);

static tk_status launch_fwd(const tki_call *call)
{
    const tki_gelu_cpu *kernels = call->lowering->kernels;
    tki_gelu_params p = {.x = call->buffers[0], .out = call->buffers[1], .n = call->c->dims[0]};
    kernels->fwd[call->c->dtype](&p, call->threads);
    return TK_OK;
}

static tk_status launch_bwd(const tki_call *call)
{
    const tki_gelu_cpu *kernels = call->lowering->kernels;
    tki_gelu_params p = {
        .grad_output = call->buffers[0], .x = call->buffers[1], .out = call->buffers[2], .n = call->c->dims[0]};
    kernels->bwd[call->c->dtype](&p, call->threads);
    return TK_OK;
}

const tki_lowering tki_gelu_fwd_lowerings[] = {
    TKI_GPU_SHARED_ROWS(tki_gelu_fwd_launch_gpu, .determinism = TK_BATCH_INVARIANT, .source = "ops/gelu/kernel.cu"),
    TKI_CPU_ROWS(tki_gelu_cpu, launch_fwd, .determinism = TK_BATCH_INVARIANT, .source = "ops/gelu/kernel_cpu.c"),
    {0},
};

const tki_lowering tki_gelu_bwd_lowerings[] = {
    TKI_GPU_SHARED_ROWS(tki_gelu_bwd_launch_gpu, .determinism = TK_BATCH_INVARIANT, .source = "ops/gelu/kernel.cu"),
    TKI_CPU_ROWS(tki_gelu_cpu, launch_bwd, .determinism = TK_BATCH_INVARIANT, .source = "ops/gelu/kernel_cpu.c"),
    {0},
};

tk_status tk_gelu_fwd(tk_ctx *ctx, tk_dtype dtype, int64_t n, const void *x, void *y)
{
    tk_case c = tk_case_init(&tki_gelu_fwd_contract, dtype);
    c.dims[0] = n;
    return tk_run(ctx, &c, (void *[]){tki_input(x), y});
}

tk_status tk_gelu_bwd(tk_ctx *ctx, tk_dtype dtype, int64_t n, const void *grad_output, const void *x,
                      void *grad_input)
{
    tk_case c = tk_case_init(&tki_gelu_bwd_contract, dtype);
    c.dims[0] = n;
    return tk_run(ctx, &c, (void *[]){tki_input(grad_output), tki_input(x), grad_input});
}
