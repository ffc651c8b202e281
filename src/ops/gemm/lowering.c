/* gemm and its gradients: which kernel runs on what. */
#include "drivers/cpu.h"
#include "model/attributes.h"
#include "ops/gemm/kernel_cpu.h"
#include "ops/gemm/launch_gpu.h"
#include "ops/gemm/launch_hopper.h"
#include "runtime/gpu.h"

enum { M, N, K };

TKI_CPU_TABLES_WITH_DOT(tki_gemm_cpu);

/* [lines, inner] as it lies in memory */
static tki_gemm_factor along_rows(const void *data, int64_t inner)
{
    return (tki_gemm_factor){.data = data, .line_stride = inner, .inner_stride = 1};
}

/* [inner, lines] as it lies in memory */
static tki_gemm_factor along_columns(const void *data, int64_t lines)
{
    return (tki_gemm_factor){.data = data, .line_stride = 1, .inner_stride = lines};
}

/* c[m,n] = a[m,k] b[k,n] */
static tki_gemm_params gemm_params(const int64_t *dims, void *const buffers[])
{
    return (tki_gemm_params){.left = along_rows(buffers[0], dims[K]),
                             .right = along_columns(buffers[1], dims[N]),
                             .out = buffers[2],
                             .rows = dims[M],
                             .cols = dims[N],
                             .inner = dims[K]};
}

/* grad_a[m,k] = grad_c[m,n] (b[k,n])^T */
static tki_gemm_params grad_a_params(const int64_t *dims, void *const buffers[])
{
    return (tki_gemm_params){.left = along_rows(buffers[0], dims[N]),
                             .right = along_rows(buffers[1], dims[N]),
                             .out = buffers[2],
                             .rows = dims[M],
                             .cols = dims[K],
                             .inner = dims[N]};
}

/* grad_b[k,n] = (a[m,k])^T grad_c[m,n]; the contract lists grad_c first */
static tki_gemm_params grad_b_params(const int64_t *dims, void *const buffers[])
{
    return (tki_gemm_params){.left = along_columns(buffers[1], dims[K]),
                             .right = along_columns(buffers[0], dims[N]),
                             .out = buffers[2],
                             .rows = dims[K],
                             .cols = dims[N],
                             .inner = dims[M]};
}

static tk_status launch_product(const tki_call *call, const tki_gemm_params *p)
{
    if (call->gpu)
        return call->lowering->numerics == TKI_NUMERICS_TENSOR_CORE ? tki_gemm_launch_tensor(call, p)
                                                                    : tki_gemm_launch_gpu(call, p);
    const tki_gemm_cpu *kernels = call->lowering->kernels;
    kernels->product(p, call->c->dtype, call->c->result_dtype, call->scratch, call->threads);
    return TK_OK;
}

static tk_status launch_gemm(const tki_call *call)
{
    tki_gemm_params p = gemm_params(call->c->dims, call->buffers);
    return launch_product(call, &p);
}

static tk_status launch_grad_a(const tki_call *call)
{
    tki_gemm_params p = grad_a_params(call->c->dims, call->buffers);
    return launch_product(call, &p);
}

static tk_status launch_grad_b(const tki_call *call)
{
    tki_gemm_params p = grad_b_params(call->c->dims, call->buffers);
    return launch_product(call, &p);
}

static size_t gemm_scratch(const tki_call *call)
{
    const tki_gemm_cpu *kernels = call->lowering->kernels;
    tki_gemm_params p = gemm_params(call->c->dims, (void *[3]){NULL});
    return kernels->scratch_bytes(&p, call->threads);
}

static size_t grad_a_scratch(const tki_call *call)
{
    const tki_gemm_cpu *kernels = call->lowering->kernels;
    tki_gemm_params p = grad_a_params(call->c->dims, (void *[3]){NULL});
    return kernels->scratch_bytes(&p, call->threads);
}

static size_t grad_b_scratch(const tki_call *call)
{
    const tki_gemm_cpu *kernels = call->lowering->kernels;
    tki_gemm_params p = grad_b_params(call->c->dims, (void *[3]){NULL});
    return kernels->scratch_bytes(&p, call->threads);
}

/* Which product a row for Hopper computes, behind its `kernels`. */
typedef struct hopper_op {
    tki_gemm_params (*params)(const int64_t *dims, void *const buffers[]);
    bool left_across, right_across; /* how its factors lie */
} hopper_op;

static const hopper_op hopper_gemm = {gemm_params, false, true};
static const hopper_op hopper_grad_a = {grad_a_params, false, false};
static const hopper_op hopper_grad_b = {grad_b_params, true, true};

static tki_gemm_hopper_product hopper_product(const tki_lowering *row, const tk_case *c, void *const buffers[])
{
    const hopper_op *op = row->kernels;
    return (tki_gemm_hopper_product){.params = op->params(c->dims, buffers),
                                     .left_across = op->left_across,
                                     .right_across = op->right_across,
                                     .source = row->source};
}

static tki_choice choose_hopper(const tki_lowering *row, const tk_case *c)
{
    const tki_gemm_hopper_product product = hopper_product(row, c, (void *[3]){NULL});
    return tki_gemm_choose_hopper(&product, c->result_dtype == TK_F32);
}

static int hopper_candidates(const tki_lowering *row, const tk_case *c, tki_choice *list, int most)
{
    const tki_gemm_hopper_product product = hopper_product(row, c, (void *[3]){NULL});
    return tki_gemm_candidates_hopper(&product, c->result_dtype == TK_F32, list, most);
}

static size_t hopper_scratch(const tki_call *call)
{
    const tki_gemm_hopper_product product = hopper_product(call->lowering, call->c, call->buffers);
    return tki_gemm_scratch_hopper(call, &product);
}

static tk_status launch_hopper(const tki_call *call)
{
    const tki_gemm_hopper_product product = hopper_product(call->lowering, call->c, call->buffers);
    return tki_gemm_launch_hopper(call, &product);
}

#define HOPPER_ROW(op)                                                                                              \
    {                                                                                                               \
        .backend = &tki_backends[TKI_CUDA], .variant = "hopper", .accept = tki_gemm_accept_hopper,                  \
        .scratch_bytes = hopper_scratch, .choose = choose_hopper, .candidates = hopper_candidates,                  \
        .launch = launch_hopper, .kernels = &hopper_##op, .determinism = TK_RUN_TO_RUN,                             \
        .numerics = TKI_NUMERICS_TENSOR_CORE, .only_16_bits = true, .source = "ops/gemm/kernel_" #op "_hopper.cu",  \
        .promise = "the order of each sum depends on the three sizes, the types and the tuning kept for the device" \
    }

#define TENSOR_ROW(backend_row, launch_function)                                                                 \
    {                                                                                                            \
        .backend = backend_row, .variant = "tensor", .accept = tki_gpu_accept_tensor, .launch = launch_function, \
        .determinism = TK_BATCH_INVARIANT, .numerics = TKI_NUMERICS_TENSOR_CORE, .only_16_bits = true,           \
        .source = "ops/gemm/kernel_tensor.cu"                                                                    \
    }
#define TENSOR_ROWS(launch_function) \
    TENSOR_ROW(&tki_backends[TKI_CUDA], launch_function), TENSOR_ROW(&tki_backends[TKI_HIP], launch_function)

const tki_lowering tki_gemm_lowerings[] = {
    HOPPER_ROW(gemm),
    TENSOR_ROWS(launch_gemm),
    TKI_GPU_SHARED_ROWS(launch_gemm, .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel.cu"),
    TKI_CPU_ROWS_WITH_DOT(tki_gemm_cpu, launch_gemm, .scratch_bytes = gemm_scratch, .determinism = TK_BATCH_INVARIANT,
                          .source = "ops/gemm/kernel_cpu.c"),
    {0},
};

const tki_lowering tki_gemm_grad_a_lowerings[] = {
    HOPPER_ROW(grad_a),
    TENSOR_ROWS(launch_grad_a),
    TKI_GPU_SHARED_ROWS(launch_grad_a, .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel.cu"),
    TKI_CPU_ROWS_WITH_DOT(tki_gemm_cpu, launch_grad_a, .scratch_bytes = grad_a_scratch,
                          .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel_cpu.c"),
    {0},
};

const tki_lowering tki_gemm_grad_b_lowerings[] = {
    HOPPER_ROW(grad_b),
    TENSOR_ROWS(launch_grad_b),
    TKI_GPU_SHARED_ROWS(launch_grad_b, .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel.cu"),
    TKI_CPU_ROWS_WITH_DOT(tki_gemm_cpu, launch_grad_b, .scratch_bytes = grad_b_scratch,
                          .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel_cpu.c"),
    {0},
};
