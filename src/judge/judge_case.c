/* DECIDES. The outputs of a case, one after the other. */
#include "judge/judge_case.h"

#include "core/context.h"
#include "exact/floats.h"

tk_status tki_judge_case(tk_ctx *ctx, const tki_oracle *oracle, const void *tables, const tk_case *c,
                         const void *const tensors[], tki_judged_how how, tki_judgement *judgement)
{
    const tk_contract *contract = c->contract;
    const void *inputs[TK_MAX_PARAMS] = {0}; /* an oracle sees no outputs */
    for (int p = 0; p < contract->param_count; p++)
        inputs[p] = contract->params[p].output ? NULL : tensors[p];
    tki_oracle_job job = {.c = c,
                          .buffers = inputs,
                          .written = tensors,
                          .promised = how.promised,
                          .sampled = how.sampled,
                          .deadline = ctx->deadline,
                          .tables = tables};
    const tki_floats floats = tki_floats_begin();
    void *prepared = NULL;
    tk_status status = oracle->prepare ? oracle->prepare(&job, &prepared) : TK_OK;
    job.prepared = prepared;
    for (int p = 0; p < contract->param_count && status == TK_OK; p++) {
        if (!contract->params[p].output)
            continue;
        job.output = p;
        status = tki_judge(oracle, &job, tensors[p], tki_ctx_threads(ctx), judgement);
    }
    if (oracle->release)
        oracle->release(prepared);
    tki_floats_end(&floats);
    if (status == TK_TIMEOUT)
        return tki_ctx_fail_late(ctx);
    if (status == TK_BAD_ARGUMENT)
        return TKI_FAIL_BY(ctx, TKI_FAILED_ENCLOSURE, .status = status, .op = contract->name);
    return status == TK_OK ? TK_OK : TKI_FAIL_BY(ctx, TKI_FAILED_ORACLE, .status = status, .op = contract->name);
}
