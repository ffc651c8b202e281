/* UNTRUSTED. softmax: which kernel runs on what. */
#include "drivers/cpu.h"
#include "ops/softmax/kernel_cpu.h"
#include "ops/softmax/launch_gpu.h"
#include "runtime/gpu.h"

TKI_CPU_TABLES(tki_softmax_cpu);

static tki_softmax_params fwd_params(const tki_call *call)
{
    return (tki_softmax_params){
        .in = call->buffers[0], .out = call->buffers[1], .rows = call->c->dims[0], .cols = call->c->dims[1]};
}

static tki_softmax_params bwd_params(const tki_call *call)
{
    return (tki_softmax_params){.grad_output = call->buffers[0],
                                .in = call->buffers[1],
                                .out = call->buffers[2],
                                .rows = call->c->dims[0],
                                .cols = call->c->dims[1]};
}

static tk_status launch_fwd(const tki_call *call)
{
    const tki_softmax_cpu *kernels = call->lowering->kernels;
    const tki_softmax_params p = fwd_params(call);
    kernels->fwd[call->c->dtype](&p, call->scratch, call->threads);
    return TK_OK;
}

static size_t fwd_scratch(const tki_call *call)
{
    const tki_softmax_cpu *kernels = call->lowering->kernels;
    return kernels->fwd_scratch_bytes(call->c->dims[1], call->threads);
}

static tk_status launch_bwd(const tki_call *call)
{
    const tki_softmax_cpu *kernels = call->lowering->kernels;
    const tki_softmax_params p = bwd_params(call);
    kernels->bwd[call->c->dtype](&p, call->threads);
    return TK_OK;
}

static tk_status launch_fwd_gpu(const tki_call *call)
{
    return tki_softmax_fwd_launch_gpu(call, fwd_params(call));
}

static tk_status launch_bwd_gpu(const tki_call *call)
{
    return tki_softmax_bwd_launch_gpu(call, bwd_params(call));
}

static tk_status launch_fwd_hopper(const tki_call *call)
{
    return tki_softmax_fwd_launch_hopper(call, fwd_params(call));
}

static tk_status launch_bwd_hopper(const tki_call *call)
{
    return tki_softmax_bwd_launch_hopper(call, bwd_params(call));
}

#define FWD_PROMISES                                                                                 \
    .determinism = TK_BATCH_INVARIANT,                                                               \
    .promise = "no element passes through more than ceil(cols / 256) + 16 additions: B with that D", \
    .promises_bound = true

const tki_lowering tki_softmax_fwd_lowerings[] = {
    {.backend = &tki_backends[TKI_CUDA],
     .variant = "hopper",
     .accept = tki_gpu_accept_hopper,
     .launch = launch_fwd_hopper,
     FWD_PROMISES,
     .source = "ops/softmax/kernel_fwd_hopper.cu"},
    TKI_GPU_SHARED_LOWERINGS(launch_fwd_gpu, FWD_PROMISES, .source = "ops/softmax/kernel_fwd.cu"),
    TKI_CPU_LOWERINGS(tki_softmax_cpu, launch_fwd, .scratch_bytes = fwd_scratch, FWD_PROMISES,
                      .source = "ops/softmax/kernel_cpu.c"),
    {0},
};

const tki_lowering tki_softmax_bwd_lowerings[] = {
    {.backend = &tki_backends[TKI_CUDA],
     .variant = "hopper",
     .accept = tki_gpu_accept_hopper,
     .launch = launch_bwd_hopper,
     .determinism = TK_BATCH_INVARIANT,
     .source = "ops/softmax/kernel_bwd_hopper.cu"},
    TKI_GPU_SHARED_LOWERINGS(launch_bwd_gpu, .determinism = TK_BATCH_INVARIANT,
                             .source = "ops/softmax/kernel_bwd.cu"),
    TKI_CPU_LOWERINGS(tki_softmax_cpu, launch_bwd, .determinism = TK_BATCH_INVARIANT,
                      .source = "ops/softmax/kernel_cpu.c"),
    {0},
};
