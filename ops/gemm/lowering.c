/* gemm and its gradients: which kernel runs on what. */
#include "backend/cpu.h"
#include "backend/gpu.h"
#include "ops/gemm/kernel_cpu.h"
#include "ops/gemm/launch_gpu.h"

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
        return tki_gemm_launch_gpu(call, p);
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

static size_t gemm_scratch(const tki_lowering *row, const tk_case *c, int threads)
{
    const tki_gemm_cpu *kernels = row->kernels;
    tki_gemm_params p = gemm_params(c->dims, (void *[3]){NULL});
    return kernels->scratch_bytes(&p, threads);
}

static size_t grad_a_scratch(const tki_lowering *row, const tk_case *c, int threads)
{
    const tki_gemm_cpu *kernels = row->kernels;
    tki_gemm_params p = grad_a_params(c->dims, (void *[3]){NULL});
    return kernels->scratch_bytes(&p, threads);
}

static size_t grad_b_scratch(const tki_lowering *row, const tk_case *c, int threads)
{
    const tki_gemm_cpu *kernels = row->kernels;
    tki_gemm_params p = grad_b_params(c->dims, (void *[3]){NULL});
    return kernels->scratch_bytes(&p, threads);
}

const tki_lowering tki_gemm_lowerings[] = {
    TKI_GPU_SHARED_ROWS(launch_gemm, .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel.cu"),
    TKI_CPU_ROWS_WITH_DOT(tki_gemm_cpu, launch_gemm, .scratch_bytes = gemm_scratch, .determinism = TK_BATCH_INVARIANT,
                          .source = "ops/gemm/kernel_cpu.c"),
    {0},
};

const tki_lowering tki_gemm_grad_a_lowerings[] = {
    TKI_GPU_SHARED_ROWS(launch_grad_a, .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel.cu"),
    TKI_CPU_ROWS_WITH_DOT(tki_gemm_cpu, launch_grad_a, .scratch_bytes = grad_a_scratch,
                          .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel_cpu.c"),
    {0},
};

const tki_lowering tki_gemm_grad_b_lowerings[] = {
    TKI_GPU_SHARED_ROWS(launch_grad_b, .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel.cu"),
    TKI_CPU_ROWS_WITH_DOT(tki_gemm_cpu, launch_grad_b, .scratch_bytes = grad_b_scratch,
                          .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel_cpu.c"),
    {0},
};
