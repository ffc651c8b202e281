/* A linear layer and its gradients: which kernel runs on what. */
#include "drivers/cpu.h"
#include "model/attributes.h"
#include "ops/linear/contract.h"
#include "ops/linear/kernel_cpu.h"
#include "ops/linear/launch_gpu.h"
#include "ops/linear/launch_hopper.h"
#include "runtime/gpu.h"

enum { M, N, K };

TKI_CPU_TABLES_WITH_DOT(tki_linear_cpu);

/* [lines, inner] as it lies in memory */
static tki_linear_factor along_rows(const void *data, int64_t inner)
{
    return (tki_linear_factor){.data = data, .line_stride = inner, .inner_stride = 1};
}

/* [inner, lines] as it lies in memory */
static tki_linear_factor along_columns(const void *data, int64_t lines)
{
    return (tki_linear_factor){.data = data, .line_stride = 1, .inner_stride = lines};
}

static void *if_there(const tk_case *c, void *const buffers[], int param)
{
    return tk_case_has(c, param) ? buffers[param] : NULL;
}

/* y[m,n] = x[m,k] (w[n,k])^T and what follows */
static tki_linear_params fwd_params(const tk_case *c, void *const buffers[])
{
    return (tki_linear_params){.left = along_rows(buffers[TKI_LINEAR_X], c->dims[K]),
                               .right = along_rows(buffers[TKI_LINEAR_W], c->dims[K]),
                               .out = buffers[TKI_LINEAR_Y],
                               .rows = c->dims[M],
                               .cols = c->dims[N],
                               .inner = c->dims[K],
                               .bias = if_there(c, buffers, TKI_LINEAR_BIAS_IN),
                               .other = if_there(c, buffers, TKI_LINEAR_RESIDUAL_IN),
                               .unactivated = if_there(c, buffers, TKI_LINEAR_PRE)};
}

/* grad_x[m,k] = grad_y[m,n] w[n,k] and what follows */
static tki_linear_params grad_x_params(const tk_case *c, void *const buffers[])
{
    return (tki_linear_params){.left = along_rows(buffers[TKI_LINEAR_GRAD_X_GRAD_Y], c->dims[N]),
                               .right = along_columns(buffers[TKI_LINEAR_GRAD_X_W], c->dims[K]),
                               .out = buffers[TKI_LINEAR_GRAD_X_OUT],
                               .rows = c->dims[M],
                               .cols = c->dims[K],
                               .inner = c->dims[N],
                               .pre = if_there(c, buffers, TKI_LINEAR_GRAD_X_PRE)};
}

/* grad_w[n,k] = (grad_y[m,n])^T x[m,k], added to what was there or not */
static tki_linear_params grad_w_params(const tk_case *c, void *const buffers[])
{
    return (tki_linear_params){.left = along_columns(buffers[TKI_LINEAR_GRAD_W_GRAD_Y], c->dims[N]),
                               .right = along_columns(buffers[TKI_LINEAR_GRAD_W_X], c->dims[K]),
                               .out = buffers[TKI_LINEAR_GRAD_W_OUT],
                               .rows = c->dims[N],
                               .cols = c->dims[K],
                               .inner = c->dims[M],
                               .other = if_there(c, buffers, TKI_LINEAR_GRAD_W_BEFORE)};
}

static tk_status launch_layer(const tki_call *call, const tki_linear_params *p)
{
    if (call->gpu)
        return tki_linear_launch_gpu(call, p);
    const tki_linear_cpu *kernels = call->lowering->kernels;
    kernels->layer(p, call->c->dtype, call->c->result_dtype, call->scratch, call->threads);
    return TK_OK;
}

static size_t scratch_of(const tki_call *call, const tki_linear_params *p)
{
    const tki_linear_cpu *kernels = call->lowering->kernels;
    return kernels->scratch_bytes(p, call->threads);
}

#define LAUNCH(op)                                                                       \
    static tk_status launch_##op(const tki_call *call)                                   \
    {                                                                                    \
        const tki_linear_params p = op##_params(call->c, call->buffers);                 \
        return launch_layer(call, &p);                                                   \
    }                                                                                    \
    static size_t op##_scratch(const tki_call *call)                                     \
    {                                                                                    \
        const tki_linear_params p = op##_params(call->c, (void *[TK_MAX_PARAMS]){NULL}); \
        return scratch_of(call, &p);                                                     \
    }

LAUNCH(fwd)
LAUNCH(grad_x)
LAUNCH(grad_w)

#define PLAIN_ROWS(op) \
    TKI_GPU_SHARED_ROWS(launch_##op, .determinism = TK_BATCH_INVARIANT, .source = "ops/linear/kernel.cu")

static const tki_linear_hopper hopper_fwd = {
    .params = fwd_params,
    .with = {{TKI_LINEAR_PRE, TKI_GEMM_GELU}, {TKI_LINEAR_RESIDUAL_IN, TKI_GEMM_TERMS}},
    .with_count = 2};
static const tki_linear_hopper hopper_grad_x = {.params = grad_x_params,
                                                .right_across = true,
                                                .with = {{TKI_LINEAR_GRAD_X_PRE, TKI_GEMM_DERIVATIVE}},
                                                .with_count = 1};
static const tki_linear_hopper hopper_grad_w = {.params = grad_w_params,
                                                .left_across = true,
                                                .right_across = true,
                                                .with = {{TKI_LINEAR_GRAD_W_BEFORE, TKI_GEMM_TERMS}},
                                                .with_count = 1};

#define HOPPER_ROW(op)                                                                                           \
    {                                                                                                            \
        .backend = &tki_backends[TKI_CUDA], .variant = "hopper", .accept = tki_gemm_accept_hopper,               \
        .scratch_bytes = tki_linear_scratch_hopper, .choose = tki_linear_choose_hopper,                          \
        .candidates = tki_linear_candidates_hopper, .launch = tki_linear_launch_hopper, .kernels = &hopper_##op, \
        .determinism = TK_RUN_TO_RUN, .numerics = TKI_NUMERICS_TENSOR_CORE, .only_16_bits = true,                \
        .source = "ops/linear/kernel_" #op "_hopper.cu",                                                         \
        .promise = "the order of each sum depends on the three sizes, the types and the epilogue alone"          \
    }

#define CPU_ROWS(op)                                                                  \
    TKI_CPU_ROWS_WITH_DOT(tki_linear_cpu, launch_##op, .scratch_bytes = op##_scratch, \
                          .determinism = TK_BATCH_INVARIANT, .source = "ops/linear/kernel_cpu.c")

const tki_lowering tki_linear_fwd_lowerings[] = {
    HOPPER_ROW(fwd),
    PLAIN_ROWS(fwd),
    CPU_ROWS(fwd),
    {0},
};

const tki_lowering tki_linear_grad_x_lowerings[] = {
    HOPPER_ROW(grad_x),
    PLAIN_ROWS(grad_x),
    CPU_ROWS(grad_x),
    {0},
};

const tki_lowering tki_linear_grad_w_lowerings[] = {
    HOPPER_ROW(grad_w),
    PLAIN_ROWS(grad_w),
    CPU_ROWS(grad_w),
    {0},
};
