/* UNTRUSTED. embedding: which kernel runs on what. */
#include "core/context.h"
#include "drivers/cpu.h"
#include "model/case.h"
#include "ops/embedding/kernel_cpu.h"
#include "ops/embedding/launch_gpu.h"
#include "runtime/gpu.h"

enum { QUERIES, DIM, VOCAB };

TKI_CPU_TABLES(tki_embedding_cpu);

static tki_embedding_params params_of(const tk_case *c)
{
    return (tki_embedding_params){.queries = c->dims[QUERIES],
                                  .dim = c->dims[DIM],
                                  .vocab = c->dims[VOCAB],
                                  .wide_index = c->index_dtype == TK_I64};
}

static tk_status check_indices(const tki_call *call, const tki_embedding_params *p)
{
    const tki_embedding_cpu *kernels = call->lowering->kernels;
    int64_t i = kernels->first_bad(p);
    if (i < 0)
        return TK_OK;
    int64_t value = p->wide_index ? ((const int64_t *)p->index)[i] : ((const int32_t *)p->index)[i];
    return tki_fail_index(call->ctx, call->c->contract, tki_index_param(call->c->contract), i, value, p->vocab);
}

static tk_status launch_fwd(const tki_call *call)
{
    const tki_embedding_cpu *kernels = call->lowering->kernels;
    tki_embedding_params p = params_of(call->c);
    p.index = call->buffers[0];
    p.weight = call->buffers[1];
    p.out = call->buffers[2];
    tk_status status = check_indices(call, &p);
    if (status == TK_OK)
        kernels->fwd(&p, call->c->dtype, call->threads);
    return status;
}

/* offsets [vocab + 1] and positions [queries]. SIZE_MAX, which no one can have, where that does not fit. */
static size_t bwd_scratch_bytes(const tki_call *call)
{
    const tk_case *c = call->c;
    if (c->dims[DIM] == 0)
        return 0;
    uint64_t places = (uint64_t)c->dims[VOCAB] + 1 + (uint64_t)c->dims[QUERIES];
    return places > SIZE_MAX / sizeof(int64_t) ? SIZE_MAX : (size_t)places * sizeof(int64_t);
}

static tk_status launch_bwd(const tki_call *call)
{
    const tki_embedding_cpu *kernels = call->lowering->kernels;
    tki_embedding_params p = params_of(call->c);
    p.grad_output = call->buffers[0];
    p.index = call->buffers[1];
    p.out = call->buffers[2];
    tk_status status = check_indices(call, &p);
    if (status != TK_OK || p.dim == 0)
        return status;
    p.offsets = call->scratch;
    p.positions = p.offsets + p.vocab + 1;
    kernels->bwd(&p, call->c->dtype, call->c->result_dtype, call->threads);
    return TK_OK;
}

const tki_lowering tki_embedding_fwd_lowerings[] = {
    TKI_GPU_SHARED_LOWERINGS(tki_embedding_fwd_launch_gpu, .determinism = TK_CROSS_DEVICE,
                             .source = "ops/embedding/kernel.cu"),
    TKI_CPU_LOWERINGS(tki_embedding_cpu, launch_fwd, .determinism = TK_CROSS_DEVICE,
                      .source = "ops/embedding/kernel_cpu.c"),
    {0},
};

#define BITS_PROMISE "the bits of clause BITS: hits in ascending order, in runs of 64, summed in IEEE fp32"

const tki_lowering tki_embedding_bwd_lowerings[] = {
    TKI_GPU_SHARED_LOWERINGS(tki_embedding_bwd_launch_gpu, .scratch_bytes = tki_embedding_bwd_scratch_bytes_gpu,
                             .determinism = TK_CROSS_DEVICE, .promise = BITS_PROMISE, .promises_bits = true,
                             .source = "ops/embedding/kernel.cu"),
    TKI_CPU_LOWERINGS(tki_embedding_cpu, launch_bwd, .scratch_bytes = bwd_scratch_bytes,
                      .determinism = TK_CROSS_DEVICE, .promise = BITS_PROMISE, .promises_bits = true,
                      .source = "ops/embedding/kernel_cpu.c"),
    {0},
};
