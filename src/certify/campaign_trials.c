/* RECORDS. The trials of a campaign, and what becomes of a kernel that fails one. */
#include <stdio.h>
#include <string.h>

#include "certify/campaign.h"
#include "certify/reproduce.h"
#include "certify/subject.h"
#include "core/clock.h"
#include "core/context.h"
#include "judge/trial_memory.h"
#include "model/attributes.h"
#include "model/case.h"
#include "trials/attribute_settings.h"
#include "trials/explorer.h"
#include "trials/shrink.h"

/* With keep_going each crash costs a new process. */
enum { MOST_FAULTS = 8 };

/* A matrix product that somebody brought may be right by the other numerics, which only 16-bit inputs have: does the
 * trial that failed hold there? `fits` receives their name, or NULL. */
static tk_status try_other_numerics(tki_subject *subject, const tki_outcome *o, const tki_trial *trial,
                                    const tki_inputs *inputs, const tki_trial_result *r, const char **fits)
{
    *fits = NULL;
    if (!o->kind->is_user_kernel || !tki_settings_has_numerics(o->contract) ||
        !tki_has_matrix_unit_bounds(tki_kind_dtype(&trial->c, TK_KIND_VALUE)) || r->only_changed ||
        r->failed_clause != tki_clause_find(o->contract, TK_CLAUSE_ERROR))
        return TK_OK;
    tki_trial other = *trial;
    tki_trial_result again;
    bool ieee = tki_choice_of_role(o->contract, trial->c.attributes, TK_ROLE_NUMERICS) == TKI_NUMERICS_IEEE;
    tki_set_role(o->contract, other.c.attributes, TK_ROLE_NUMERICS,
                 ieee ? TKI_NUMERICS_TENSOR_CORE : TKI_NUMERICS_IEEE);
    tki_set_role(o->contract, other.c.attributes, TK_ROLE_MATRIX_UNIT,
                 tki_settings_matrix_unit(subject->ctx, o->lowering, o->options));
    tk_status status = tki_trial_run(subject, &other, inputs, &again);
    if (status == TK_OK && again.failed_clause < 0 && !again.could_not_run)
        *fits = tki_settings_choice(o->contract, other.c.attributes, TK_ROLE_NUMERICS);
    return status;
}

/* Where the arrays lie, how many threads there are and what the outputs hold comes from the seed: most failures do not
 * need that. */
static tk_status fails_by_default(tki_subject *subject, const tki_trial *shrunk, const tki_inputs *inputs,
                                  bool *fails)
{
    tki_trial trial = *shrunk;
    tki_trial_result result;
    trial.seed = TK_SEED_DEFAULT;
    tk_status status = tki_trial_run(subject, &trial, inputs, &result);
    *fails = status == TK_OK && result.failed_clause >= 0;
    return status;
}

static tk_status note_refuted(tki_subject *subject, tki_outcome *o, const tki_trial *trial, tki_inputs *inputs,
                              tki_trial_result *r)
{
    tki_trial shrunk = *trial;
    const char *fits;
    tk_status hinted = try_other_numerics(subject, o, trial, inputs, r, &fits);
    if (hinted != TK_OK)
        return hinted;
    o->refuted[r->failed_clause] = true;
    tk_status status = r->only_changed ? tki_trial_adopt_change(subject, &shrunk, inputs, r) : TK_OK;
    if (status == TK_OK)
        status = tki_shrink(subject, &shrunk, inputs, r);
    if (status != TK_OK)
        return status;
    tki_outcome_refute(o, &shrunk, r);
    o->cause.fits = fits;
    bool by_default = false;
    tki_trial_give_inputs(&shrunk);
    if (!o->kind->is_kernel_file)
        status = fails_by_default(subject, &shrunk, inputs, &by_default);
    if (status != TK_OK)
        return status;
    o->failing_case = tki_case_json(o, trial, &shrunk, inputs, by_default);
    return o->failing_case ? TK_OK : tki_fail(subject->ctx, TK_NO_MEMORY, "no memory for the failing case");
}

static double gib_of(const tki_outcome *o, const tki_trial *trial)
{
    return tki_case_gib(&trial->c, o->kind->is_kernel_file);
}

/* A trial that is not for every machine is left out where memory is short, or where a user kernel on the CPU
 * would take longer over it than a call may. */
static bool leaves_out(tki_outcome *o, const tki_trial *trial)
{
    if (!trial->where_memory_allows)
        return false;
    bool slow = !o->lowering && !o->backend->is_gpu;
    int64_t most = 0;
    for (int p = 0; p < o->contract->param_count; p++)
        most = tk_case_elements(&trial->c, p) > most ? tk_case_elements(&trial->c, p) : most;
    return (slow && most > INT64_C(1) << 31) || 2 * gib_of(o, trial) > tki_free_gib();
}

static void note_left_out(tki_outcome *o, const tki_trial *trial)
{
    double gib = gib_of(o, trial);
    if (!o->left_out || gib < o->left_out_gib)
        o->left_out_gib = gib;
    o->left_out++;
    o->held += o->verdict == TK_HELD; /* the next ones of the list come after it */
}

/* A trial that ran to an end, whatever became of it. The first that fails is shrunk and gives the reason; of later
 * ones, which only keep_going comes to, the figures count. */
static tk_status note_ran(tki_subject *subject, tki_outcome *o, const tki_trial *trial, tki_inputs *inputs,
                          tki_trial_result *r)
{
    if (!r->faulted)
        tki_outcome_record(o, trial, r);
    if (r->failed_clause < 0)
        return TK_OK;
    if (o->verdict == TK_HELD)
        return note_refuted(subject, o, trial, inputs, r);
    o->refuted[r->failed_clause] = true;
    return TK_OK;
}

tk_status tki_campaign_try(tki_subject *subject, tki_outcome *o, const tki_trial *trial, bool *over)
{
    tki_inputs inputs;
    tki_trial_result r;
    tk_status status = tki_inputs_make(subject->ctx, trial, o->options, &inputs);
    if (status != TK_OK)
        return status;
    status = tki_trial_run(subject, trial, &inputs, &r);
    if (status == TK_NO_MEMORY && trial->where_memory_allows) {
        tki_inputs_free(&inputs);
        note_left_out(o, trial); /* of a device, which has less than its host */
        return TK_OK;
    }
    *over = status != TK_OK || r.could_not_run;
    const bool late = status == TK_OK && r.could_not_run && tki_outcome_is_out_of_time(o, subject->ctx);
    if (status == TK_OK && !late) {
        tki_outcome_add(o, trial, &inputs, &r);
        tki_outcome_count_failed(o, &r);
        o->tried++;
        o->faults += r.faulted;
        if (!r.could_not_run)
            status = note_ran(subject, o, trial, &inputs, &r);
        else if (o->verdict == TK_HELD)
            tki_outcome_leave_open(o, &r);
    }
    tki_inputs_free(&inputs);
    *over |= status != TK_OK || o->faults == MOST_FAULTS || (o->verdict != TK_HELD && !o->options->keep_going);
    if (!*over)
        o->held += o->verdict == TK_HELD;
    return status;
}

/* How long trials take, by their work: what is too long for the time that is left is not begun. */
typedef struct pace {
    double work, seconds; /* of the largest trial so far */
} pace;

static bool is_too_long(const pace *so_far, const tki_outcome *o, const tki_trial *trial, const tk_ctx *ctx)
{
    const double share = 0.05; /* shorter ones cannot go far beyond the end */
    const double seconds = so_far->work > 0 ? so_far->seconds * tki_explorer_work(&trial->c) / so_far->work : 0;
    return ctx->deadline > 0 && seconds > share * o->total_seconds && tki_now() + seconds > ctx->deadline;
}

static void note_pace(pace *so_far, const tki_trial *trial, double begin)
{
    const double work = tki_explorer_work(&trial->c);
    if (work >= so_far->work)
        *so_far = (pace){work, tki_now() - begin};
}

tk_status tki_campaign_glance(tki_subject *subject, tki_outcome *o, const tki_trial *trial, bool *over)
{
    tki_inputs inputs;
    tki_trial_result r;
    tk_status status = tki_inputs_make(subject->ctx, trial, o->options, &inputs);
    if (status != TK_OK)
        return status;
    status = tki_trial_glance(subject, trial, &inputs, &r);
    o->glances++;
    const bool suspect = status == TK_OK && (r.failed_clause >= 0 || r.could_not_run);
    if (suspect)
        status = tki_campaign_try(subject, o, trial, over);
    /* That call alone, and none of those that came after it. */
    if (suspect && status == TK_OK && o->verdict == TK_HELD && r.failed_clause >= 0) {
        tki_outcome_add(o, trial, &inputs, &r);
        tki_outcome_count_failed(o, &r);
        status = note_ran(subject, o, trial, &inputs, &r);
        *over |= o->verdict != TK_HELD && !o->options->keep_going;
    }
    tki_inputs_free(&inputs);
    return status;
}

tk_status tki_campaign_try_all(tki_subject *subject, tki_outcome *o, const tki_trials *trials, double share)
{
    tk_status status = TK_OK;
    bool over = false;
    pace so_far = {0};
    for (int64_t i = 0; i < trials->count && !over && status == TK_OK && !tki_outcome_is_out_of_time(o, subject->ctx);
         i++) {
        tki_outcome_report(o, share * (double)i / (double)trials->count, tki_trial_family_name(&trials->list[i]));
        const double begin = tki_now();
        if (leaves_out(o, &trials->list[i])) {
            note_left_out(o, &trials->list[i]);
        } else if (is_too_long(&so_far, o, &trials->list[i], subject->ctx)) {
            o->out_of_time = true;
            return TK_OK;
        } else {
            status = tki_campaign_try(subject, o, &trials->list[i], &over);
            note_pace(&so_far, &trials->list[i], begin);
        }
        o->complete = o->tried + o->left_out == trials->count;
    }
    return status;
}
