/* Our softmax kernels as a kernel file. */
#include "ops/softmax/kernel_cpu.c"
#include "scratch.h"

int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    const tki_softmax_cpu *kernels = &TKI_ISA_TABLE(tki_softmax_cpu);
    const tki_softmax_params p = {.in = x, .out = y, .rows = rows, .cols = cols};
    void *scratch = get_scratch(kernels->fwd_scratch_bytes(cols, call->threads));
    if (!scratch)
        return 1;
    kernels->fwd[call->dtype](&p, scratch, call->threads);
    free(scratch);
    return 0;
}

int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input)
{
    const tki_softmax_params p = {.grad_output = grad_output, .in = y, .out = grad_input, .rows = rows, .cols = cols};
    TKI_ISA_TABLE(tki_softmax_cpu).bwd[call->dtype](&p, call->threads);
    return 0;
}
