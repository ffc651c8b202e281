/* Our matrix products as a kernel file. */
#include "ops/product/kernel_cpu.c"
#include "scratch.h"

static tki_gemm_factor along_rows(const void *data, int64_t inner)
{
    return (tki_gemm_factor){.data = data, .line_stride = inner, .inner_stride = 1};
}

static tki_gemm_factor along_columns(const void *data, int64_t lines)
{
    return (tki_gemm_factor){.data = data, .line_stride = 1, .inner_stride = lines};
}

static int multiplied(const tokitai_call *call, const tki_gemm_params *p)
{
    const tki_gemm_cpu *kernels = &TKI_ISA_TABLE(tki_gemm_cpu);
    void *scratch = get_scratch(kernels->scratch_bytes(p, call->threads));
    if (!scratch)
        return 1;
    kernels->product(p, (tk_dtype)call->dtype, (tk_dtype)call->result_dtype, scratch, call->threads);
    free(scratch);
    return 0;
}

int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    const tki_gemm_params p = {
        .left = along_rows(a, k), .right = along_columns(b, n), .out = c, .rows = m, .cols = n, .inner = k};
    return multiplied(call, &p);
}

int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a)
{
    const tki_gemm_params p = {
        .left = along_rows(grad_c, n), .right = along_rows(b, n), .out = grad_a, .rows = m, .cols = k, .inner = n};
    return multiplied(call, &p);
}

int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b)
{
    const tki_gemm_params p = {.left = along_columns(a, k),
                               .right = along_columns(grad_c, n),
                               .out = grad_b,
                               .rows = k,
                               .cols = n,
                               .inner = m};
    return multiplied(call, &p);
}
