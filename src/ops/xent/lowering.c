/* UNTRUSTED. xent: which kernel runs on what. */
#include "core/context.h"
#include "drivers/cpu.h"
#include "model/case.h"
#include "ops/xent/contract.h"
#include "ops/xent/kernel_cpu.h"
#include "ops/xent/launch_gpu.h"
#include "runtime/gpu.h"

TKI_CPU_TABLES(tki_xent_cpu);

static tki_xent_params params_of(const tki_call *call)
{
    const tk_case *c = call->c;
    double cols = (double)c->dims[1];
    double eps = c->attributes[TKI_XENT_LABEL_SMOOTHING].real;
    double share = cols > 0 ? eps / cols : 0;
    return (tki_xent_params){.logits = call->buffers[TKI_XENT_LOGITS],
                             .target = call->buffers[TKI_XENT_TARGETS],
                             .loss = call->buffers[TKI_XENT_LOSSES],
                             .grad_logits = call->buffers[TKI_XENT_GRADIENTS],
                             .rows = c->dims[0],
                             .cols = c->dims[1],
                             .ignore_index = c->attributes[TKI_XENT_IGNORE_INDEX].integer,
                             .wide_target = c->index_dtype == TK_I64,
                             .scale = (float)c->attributes[TKI_XENT_SCALE].real,
                             .keep = (float)(1 - eps),
                             .share = (float)share,
                             .share_raised = (float)(share * 0x1p64),
                             .share_of_others = cols > 0 ? (float)(eps * (cols - 1) / cols) : 0};
}

static tk_status launch(const tki_call *call)
{
    const tki_xent_cpu *kernels = call->lowering->kernels;
    const tki_xent_params p = params_of(call);
    int64_t value;
    int64_t bad = kernels->first_bad_target(&p, &value);
    if (bad >= 0)
        return tki_fail_index(call->ctx, call->c->contract, tki_index_param(call->c->contract), bad, value, p.cols);
    kernels->run[call->c->dtype](&p, call->scratch, call->threads);
    return TK_OK;
}

static tk_status launch_gpu(const tki_call *call)
{
    return tki_xent_launch_gpu(call, params_of(call));
}

static tk_status launch_hopper(const tki_call *call)
{
    return tki_xent_launch_hopper(call, params_of(call));
}

static size_t scratch_bytes(const tki_call *call)
{
    const tki_xent_cpu *kernels = call->lowering->kernels;
    return kernels->scratch_bytes(call->c->dims[1], call->threads);
}

#define PROMISES                                                                                                \
    .determinism = TK_BATCH_INVARIANT,                                                                          \
    .promise =                                                                                                  \
        "no element passes through more than ceil(cols/256) + 16 additions, and the loss is accurate relative " \
        "to its own size",                                                                                      \
    .promises_bound = true

const tki_lowering tki_xent_lowerings[] = {
    {.backend = &tki_backends[TKI_CUDA],
     .variant = "hopper",
     .accept = tki_gpu_accept_hopper,
     .launch = launch_hopper,
     PROMISES,
     .source = "ops/xent/kernel_hopper.cu"},
    TKI_GPU_SHARED_LOWERINGS(launch_gpu, PROMISES, .source = "ops/xent/kernel.cu"),
    TKI_CPU_LOWERINGS(tki_xent_cpu, launch, .scratch_bytes = scratch_bytes, PROMISES,
                      .source = "ops/xent/kernel_cpu.c"),
    {0},
};
