/* UNTRUSTED. gelu: which kernel runs on what. */
#include "drivers/cpu.h"
#include "ops/gelu/kernel_cpu.h"
#include "ops/gelu/launch_gpu.h"
#include "runtime/gpu.h"

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
    TKI_GPU_SHARED_LOWERINGS(tki_gelu_fwd_launch_gpu, .determinism = TK_BATCH_INVARIANT,
                             .source = "ops/gelu/kernel.cu"),
    TKI_CPU_LOWERINGS(tki_gelu_cpu, launch_fwd, .determinism = TK_BATCH_INVARIANT, .source = "ops/gelu/kernel_cpu.c"),
    {0},
};

const tki_lowering tki_gelu_bwd_lowerings[] = {
    TKI_GPU_SHARED_LOWERINGS(tki_gelu_bwd_launch_gpu, .determinism = TK_BATCH_INVARIANT,
                             .source = "ops/gelu/kernel.cu"),
    TKI_CPU_LOWERINGS(tki_gelu_cpu, launch_bwd, .determinism = TK_BATCH_INVARIANT, .source = "ops/gelu/kernel_cpu.c"),
    {0},
};
