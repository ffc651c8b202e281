/* CHOOSES. Calls of another type. */
#include "trials/unjudged_call.h"

#include "judge/guarded_run.h"
#include "model/case.h"
#include "trials/levels.h"

/* The neighbour in the contract's list, so that f16 and bf16 visit each other. */
static tk_types other_types(const tk_case *c)
{
    const tk_contract *contract = c->contract;
    const int other = (tki_case_types(c) > 0 ? tki_case_types(c) : 0) ^ 1;
    if (!contract->type_count)
        return (tk_types){c->dtype, c->result_dtype};
    return contract->types[other < contract->type_count ? other : 0];
}

static void set_types(tk_case *c, tk_types types)
{
    c->dtype = types.dtype;
    c->result_dtype = types.result_dtype;
}

tk_status tki_trial_visit(tki_subject *subject, const tki_trial *trial)
{
    tki_trial visitor = *trial;
    tki_trial_result ignored = {.failed_clause = -1};
    tki_inputs inputs;
    tki_run r;
    set_types(&visitor.c, other_types(&trial->c));
    if (tki_trial_calls_seed(trial) / 8 % 2)
        visitor.c.index_dtype = trial->c.index_dtype == TK_I32 ? TK_I64 : TK_I32;
    visitor.family = 0;
    tk_status status = tki_inputs_alloc(subject->ctx, &visitor.c, &inputs);
    if (status != TK_OK)
        return status;
    tki_trial_fill(&visitor, inputs.data);
    status = tki_run_prepare(subject, &r, &visitor.c, &inputs, tki_setup_draw(&visitor, 0), false, NULL);
    if (status == TK_OK) {
        status = tki_run_call(subject, &visitor.c, &r, NULL, &ignored);
        tki_run_free(&r);
    }
    tki_inputs_free(&inputs);
    return status;
}
