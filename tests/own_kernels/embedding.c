/* Our embedding kernels as a kernel file. */
#include "ops/embedding/kernel_cpu.c"
#include "scratch.h"

int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out)
{
    const tki_embedding_cpu *kernels = &TKI_ISA_TABLE(tki_embedding_cpu);
    const tki_embedding_params p = {.index = index,
                                    .weight = weight,
                                    .out = out,
                                    .queries = queries,
                                    .dim = dim,
                                    .vocab = vocab,
                                    .wide_index = call->index_dtype == TOKITAI_I64};
    if (kernels->first_bad(&p) >= 0)
        return 2;
    kernels->fwd(&p, (tk_dtype)call->dtype, call->threads);
    return 0;
}

int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight)
{
    const tki_embedding_cpu *kernels = &TKI_ISA_TABLE(tki_embedding_cpu);
    tki_embedding_params p = {.index = index,
                              .grad_output = grad_output,
                              .out = grad_weight,
                              .queries = queries,
                              .dim = dim,
                              .vocab = vocab,
                              .wide_index = call->index_dtype == TOKITAI_I64};
    if (kernels->first_bad(&p) >= 0)
        return 2;
    if (dim == 0)
        return 0;
    p.offsets = get_scratch((size_t)(vocab + 1 + queries) * sizeof(int64_t));
    if (!p.offsets)
        return 1;
    p.positions = p.offsets + vocab + 1;
    kernels->bwd(&p, (tk_dtype)call->dtype, (tk_dtype)call->result_dtype, call->threads);
    free(p.offsets);
    return 0;
}
