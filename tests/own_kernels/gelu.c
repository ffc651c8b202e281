/* Our gelu kernels as a kernel file. */
#include "ops/gelu/kernel_cpu.c"
#include "scratch.h"

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    const tki_gelu_params p = {.x = x, .out = y, .n = n};
    TKI_ISA_TABLE(tki_gelu_cpu).fwd[call->dtype](&p, call->threads);
    return 0;
}

int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input)
{
    const tki_gelu_params p = {.grad_output = grad_output, .x = x, .out = grad_input, .n = n};
    TKI_ISA_TABLE(tki_gelu_cpu).bwd[call->dtype](&p, call->threads);
    return 0;
}
