/* gemm and its gradients: which kernel runs on what, and the typed calls. */
#include "backend/cpu.h"
#include "backend/gpu.h"
#include "ops/gemm/kernel_cpu.h"
#include "ops/gemm/launch_gpu.h"

extern const tk_contract tki_gemm_contract;
extern const tk_contract tki_gemm_grad_a_contract;
extern const tk_contract tki_gemm_grad_b_contract;

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
    kernels->product[call->c->dtype](p, call->scratch, call->threads);
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

static tk_status run(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, const int64_t dims[3],
                     void *const buffers[])
{
    tk_case c = tk_case_init(contract, dtype);
    for (int d = 0; d < 3; d++)
        c.dims[d] = dims[d];
    return tk_run(ctx, &c, buffers);
}

tk_status tk_gemm(tk_ctx *ctx, tk_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    return run(ctx, &tki_gemm_contract, dtype, (int64_t[]){m, n, k}, (void *[]){tki_input(a), tki_input(b), c});
}

tk_status tk_gemm_grad_a(tk_ctx *ctx, tk_dtype dtype, int64_t m, int64_t n, int64_t k, const void *grad_c,
                         const void *b, void *grad_a)
{
    return run(ctx, &tki_gemm_grad_a_contract, dtype, (int64_t[]){m, n, k},
               (void *[]){tki_input(grad_c), tki_input(b), grad_a});
}

tk_status tk_gemm_grad_b(tk_ctx *ctx, tk_dtype dtype, int64_t m, int64_t n, int64_t k, const void *grad_c,
                         const void *a, void *grad_b)
{
    return run(ctx, &tki_gemm_grad_b_contract, dtype, (int64_t[]){m, n, k},
               (void *[]){tki_input(grad_c), tki_input(a), grad_b});
}
