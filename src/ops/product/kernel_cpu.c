/* UNTRUSTED. Matrix products on the CPU. */
#include "ops/product/kernel_cpu.h"

#include "kernels/cpu_product.h"

extern const tki_gemm_cpu TKI_ISA_TABLE(tki_gemm_cpu);

static product_params params_of(const tki_gemm_params *p)
{
    return (product_params){.left = {p->left.data, p->left.line_stride, p->left.inner_stride},
                            .right = {p->right.data, p->right.line_stride, p->right.inner_stride},
                            .out = p->out,
                            .rows = p->rows,
                            .cols = p->cols,
                            .inner = p->inner};
}

static void product(const tki_gemm_params *p, tk_dtype dtype, tk_dtype result, void *scratch, int threads)
{
    const product_params params = params_of(p);
    multiply(&params, dtype, result, scratch, threads);
}

static size_t scratch_bytes(const tki_gemm_params *p, int threads)
{
    const product_params params = params_of(p);
    return product_scratch_bytes(&params, threads);
}

static size_t most_scratch_bytes(const tki_gemm_params *p, int threads)
{
    const product_params params = params_of(p);
    return product_most_scratch_bytes(&params, threads);
}

const tki_gemm_cpu TKI_ISA_TABLE(tki_gemm_cpu) = {
    .product = product, .scratch_bytes = scratch_bytes, .most_scratch_bytes = most_scratch_bytes};
