/* UNTRUSTED. padic_gemm: which kernel runs on what. */
#include "core/context.h"
#include "drivers/cpu.h"
#include "ops/padic/contract.h"
#include "ops/padic/kernel_cpu.h"
#include "ops/padic/launch_gpu.h"
#include "runtime/gpu.h"

TKI_CPU_TABLES_WITH_IFMA(tki_padic_cpu);

static tki_padic_params params_of(const tk_case *c, void *const buffers[])
{
    tki_padic_params p = {.a = buffers[TKI_PADIC_A],
                          .b = buffers[TKI_PADIC_B],
                          .c = buffers[TKI_PADIC_C],
                          .m = c->dims[TKI_PADIC_M],
                          .n = c->dims[TKI_PADIC_N],
                          .k = c->dims[TKI_PADIC_K],
                          .prime = (uint64_t)c->attributes[TKI_PADIC_PRIME].integer,
                          .precision = (int32_t)c->attributes[TKI_PADIC_PRECISION].integer};
    (void)tki_padic_modulus(p.prime, p.precision, &p.modulus); /* the case was checked */
    return p;
}

static size_t scratch_bytes(const tki_call *call)
{
    const tki_padic_cpu *kernels = call->lowering->kernels;
    const tki_padic_params p = params_of(call->c, (void *[3]){NULL});
    return kernels->scratch_bytes(&p, call->threads);
}

static tk_status launch(const tki_call *call)
{
    const tki_padic_cpu *kernels = call->lowering->kernels;
    const tki_padic_params p = params_of(call->c, call->buffers);
    tki_padic_skipped skipped;
    kernels->product(&p, call->scratch, call->threads, &skipped);
    tki_left_out *left_out = &call->ctx->left_out;
    left_out->slices += skipped.slices;
    left_out->all_slices += p.m && p.n ? p.k : 0;
    left_out->parts += skipped.parts;
    left_out->all_parts += skipped.all_parts;
    return TK_OK;
}

static size_t scratch_bytes_gpu(const tki_call *call)
{
    const tki_padic_params p = params_of(call->c, (void *[3]){NULL});
    return tki_padic_scratch_gpu(&p);
}

static tk_status launch_gpu(const tki_call *call)
{
    const tki_padic_params p = params_of(call->c, call->buffers);
    return tki_padic_launch_gpu(call, &p);
}

#define LEAVES_OUT                                                                                       \
    .promise = "leaves out terms only where the valuations of their factors add up to the precision or " \
               "more: there they vanish",                                                                \
    .leaves_out_by = {"proofs/padic.v", "skipping_terms", "skipping_tiles"}

const tki_lowering tki_padic_gemm_lowerings[] = {
    TKI_GPU_SHARED_LOWERINGS(launch_gpu, .scratch_bytes = scratch_bytes_gpu, .determinism = TK_CROSS_DEVICE,
                             .source = "ops/padic/kernel.cu", LEAVES_OUT),
    TKI_CPU_LOWERINGS_WITH_IFMA(tki_padic_cpu, launch, .scratch_bytes = scratch_bytes, .determinism = TK_CROSS_DEVICE,
                                .source = "ops/padic/kernel_cpu.c", LEAVES_OUT),
    {0},
};
