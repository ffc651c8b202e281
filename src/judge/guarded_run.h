/* DECIDES. One call of a kernel in buffers of its own, between guards, and what it did to memory. */
#pragma once

#include "judge/call_setup.h"
#include "judge/guard.h"
#include "judge/trial.h"

/* One run's buffers. */
typedef struct tki_run {
    tki_setup setup;
    tki_guarded buffer[TK_MAX_PARAMS];
    void *pointers[TK_MAX_PARAMS];
    tki_fill fill[TK_MAX_PARAMS]; /* of outputs, as they were before the call */
} tki_run;

/* `in_place`: outputs that may share an input's buffer do. `unlike`: a run whose outputs held something else, in every
 * element; it must outlive this one. Buffers of a worker's kernel are copied before it sees them, so that nothing
 * guards them here. */
TK_MUST_USE tk_status tki_run_prepare(tki_subject *subject, tki_run *r, const tk_case *c, const tki_inputs *inputs,
                                      tki_setup setup, bool in_place, const tki_run *unlike);
void tki_run_free(tki_run *r);

/* Runs once; a kernel that reports failure sets could_not_run, one that crashes has failed. */
TK_MUST_USE tk_status tki_run_call(tki_subject *subject, const tk_case *c, tki_run *r, double *seconds,
                                   tki_trial_result *result);

/* Its call, or what judges that, did not come to an end: the context says why. */
void tki_trial_could_not(tki_trial_result *result, tk_status status, const tk_ctx *ctx);

/* It ran to its end, so there are outputs to look at. */
bool tki_run_ended(tk_status status, const tki_trial_result *result);

/* Are the guards as they were, and the inputs? */
void tki_run_check_surroundings(const tk_case *c, const tki_run *r, const tki_inputs *inputs, bool in_place,
                                tki_trial_result *result);

/* What a kernel did that ran on copies of its buffers: to the memory around them, and to its process. */
void tki_run_check_overrun(const tki_subject *subject, const tk_case *c, tki_trial_result *result);

/* Did two runs with the same inputs write all outputs, and give the same bits? */
void tki_runs_compare(const tk_case *c, const tki_run *a, const tki_run *b, tki_trial_result *result);

/* Keeps the beginning of the outputs, to be found in the outputs of later calls. */
void tki_run_keep_stale(tki_subject *subject, const tk_case *c, const tki_run *r);

/* The clause does not hold, by that finding; of several failures the first counts. A negative clause, of a contract that lacks it, makes
 * the result one that no verdict can come of. */
void tki_trial_fail(tki_trial_result *result, int clause, tki_finding finding);

/* The context's message becomes the result's words. */
void tki_trial_keep_words(tki_trial_result *result, const tk_ctx *ctx);
