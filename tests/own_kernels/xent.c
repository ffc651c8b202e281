/* Our xent kernel as a kernel file. */
#include "ops/xent/kernel_cpu.c"
#include "scratch.h"

int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits)
{
    const tki_xent_cpu *kernels = &TKI_ISA_TABLE(tki_xent_cpu);
    const double eps = (double)call->label_smoothing, share = cols > 0 ? eps / (double)cols : 0;
    const tki_xent_params p = {.logits = logits,
                               .target = target,
                               .loss = loss,
                               .grad_logits = grad_logits,
                               .rows = rows,
                               .cols = cols,
                               .ignore_index = call->ignore_index,
                               .wide_target = call->index_dtype == TOKITAI_I64,
                               .scale = call->scale,
                               .keep = (float)(1 - eps),
                               .share = (float)share,
                               .share_raised = (float)(share * 0x1p64),
                               .share_of_others = cols > 0 ? (float)(eps * (double)(cols - 1) / (double)cols) : 0};
    int64_t value;
    if (kernels->first_bad_target(&p, &value) >= 0)
        return 2;
    void *scratch = get_scratch(kernels->scratch_bytes(cols, call->threads));
    if (!scratch)
        return 1;
    kernels->run[call->dtype](&p, scratch, call->threads);
    free(scratch);
    return 0;
}
