/* UNTRUSTED. Matrix products, layers and products of groups: which kernel runs on what. */
#include "drivers/cpu.h"
#include "model/attributes.h"
#include "ops/product/kernel_cpu.h"
#include "ops/product/kernel_cpu_linear.h"
#include "ops/product/launch_gpu.h"
#include "ops/product/launch_grouped.h"
#include "ops/product/launch_hopper.h"
#include "runtime/gpu.h"

TKI_CPU_TABLES_WITH_DOT(tki_gemm_cpu);
TKI_CPU_TABLES_WITH_DOT(tki_linear_cpu);

static tk_status launch_gemm(const tki_call *call)
{
    const tki_linear_params whole = tki_product_params_of(call->c, call->buffers);
    const tki_gemm_params p = tki_plain_product_of(&whole);
    const tki_gemm_cpu *kernels = call->lowering->kernels;
    if (call->gpu)
        return call->lowering->numerics == TKI_NUMERICS_TENSOR_CORE ? tki_gemm_launch_tensor(call, &p)
                                                                    : tki_gemm_launch_gpu(call, &p);
    kernels->product(&p, call->c->dtype, call->c->result_dtype, call->scratch, call->threads);
    return TK_OK;
}

static size_t gemm_scratch(const tki_call *call)
{
    const tki_linear_params whole = tki_product_params_of(call->c, (void *[TK_MAX_PARAMS]){NULL});
    const tki_gemm_params p = tki_plain_product_of(&whole);
    const tki_gemm_cpu *kernels = call->lowering->kernels;
    return kernels->scratch_bytes(&p, call->threads);
}

static tk_status launch_layer(const tki_call *call)
{
    const tki_linear_params p = tki_product_params_of(call->c, call->buffers);
    const tki_linear_cpu *kernels = call->lowering->kernels;
    if (call->gpu)
        return tki_linear_launch_gpu(call, &p);
    kernels->layer(&p, call->c->dtype, call->c->result_dtype, call->scratch, call->threads);
    return TK_OK;
}

static size_t layer_scratch(const tki_call *call)
{
    const tki_linear_params p = tki_product_params_of(call->c, (void *[TK_MAX_PARAMS]){NULL});
    const tki_linear_cpu *kernels = call->lowering->kernels;
    return kernels->scratch_bytes(&p, call->threads);
}

#define HOPPER_LOWERING(op, order, which, ...)                                                                      \
    {                                                                                                               \
        .backend = &tki_backends[TKI_CUDA], .variant = "hopper", .accept = tki_##which##_accept_hopper,             \
        .scratch_bytes = tki_##which##_scratch_hopper, .launch = tki_##which##_launch_hopper, .determinism = order, \
        .numerics = TKI_NUMERICS_TENSOR_CORE, .only_16_bits = true,                                                 \
        .source = "ops/product/kernel_" #op "_hopper.cu", __VA_ARGS__                                               \
    }
/* A product or a layer, cut as its sizes ask for. */
#define CUT_LOWERING(op, what_else)                                                  \
    HOPPER_LOWERING(op, TK_RUN_TO_RUN, product, .choose = tki_product_choose_hopper, \
                    .candidates = tki_product_candidates_hopper,                     \
                    .promise = "the order of each sum depends on the three sizes, the types and the " what_else)

#define TENSOR_LOWERING(backend_)                                                                         \
    {                                                                                                     \
        .backend = backend_, .variant = "tensor", .accept = tki_gpu_accept_tensor, .launch = launch_gemm, \
        .determinism = TK_BATCH_INVARIANT, .numerics = TKI_NUMERICS_TENSOR_CORE, .only_16_bits = true,    \
        .source = "ops/product/kernel_tensor.cu"                                                          \
    }

#define OTHER_LOWERINGS(gpu_launch, gpu_scratch, gpu_source, table, cpu_launch, cpu_scratch, cpu_source)  \
    TKI_GPU_SHARED_LOWERINGS(gpu_launch, .scratch_bytes = gpu_scratch, .determinism = TK_BATCH_INVARIANT, \
                             .source = "ops/product/" gpu_source),                                        \
        TKI_CPU_LOWERINGS_WITH_DOT(table, cpu_launch, .scratch_bytes = cpu_scratch,                       \
                                   .determinism = TK_BATCH_INVARIANT, .source = "ops/product/" cpu_source)

#define PRODUCT(op)                                                                                                 \
    const tki_lowering tki_##op##_lowerings[] = {CUT_LOWERING(op, "tuning kept for the device"),                    \
                                                 TENSOR_LOWERING(&tki_backends[TKI_CUDA]),                          \
                                                 TENSOR_LOWERING(&tki_backends[TKI_HIP]),                           \
                                                 OTHER_LOWERINGS(launch_gemm, NULL, "kernel_gemm.cu", tki_gemm_cpu, \
                                                                 launch_gemm, gemm_scratch, "kernel_cpu.c"),        \
                                                 {0}}
PRODUCT(gemm);
PRODUCT(gemm_grad_a);
PRODUCT(gemm_grad_b);

#define LAYER(op)                                                                                             \
    const tki_lowering tki_##op##_lowerings[] = {CUT_LOWERING(op, "epilogue alone"),                          \
                                                 OTHER_LOWERINGS(launch_layer, NULL, "kernel_linear.cu",      \
                                                                 tki_linear_cpu, launch_layer, layer_scratch, \
                                                                 "kernel_cpu_linear.c"),                      \
                                                 {0}}
LAYER(linear_fwd);
LAYER(linear_grad_x);
LAYER(linear_grad_w);

/* Each group as gemm would, alone: other groups, and where the group lies, change no bit of it. */
#define GROUPS(op)                                                                                          \
    const tki_lowering tki_##op##_lowerings[] = {                                                           \
        HOPPER_LOWERING(op, TK_BATCH_INVARIANT, grouped),                                                   \
        OTHER_LOWERINGS(tki_grouped_launch_gpu, tki_grouped_scratch_gpu, "kernel_grouped.cu", tki_gemm_cpu, \
                        tki_grouped_launch_cpu, tki_grouped_scratch_cpu, "kernel_cpu.c"),                   \
        {0}}
GROUPS(grouped_gemm);
GROUPS(grouped_gemm_grad_a);
GROUPS(grouped_gemm_grad_b);
