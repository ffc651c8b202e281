/* RECORDS. The steps of a certification. They stand in `steps` in the order in which they are taken. */
#include "certify/campaign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "certify/reproduce.h"
#include "certify/subject.h"
#include "core/clock.h"
#include "core/context.h"
#include "core/random.h"
#include "judge/call_setup.h"
#include "model/attributes.h"
#include "model/case.h"
#include "kernel_file/kernel_file.h"
#include "trials/attribute_settings.h"
#include "trials/constant_trials.h"
#include "trials/families.h"
#include "trials/op_registry.h"
#include "trials/unjudged_call.h"

typedef struct campaign {
    tki_subject *subject;
    tki_outcome *o;
    tki_trials *trials;
    bool restricted;   /* to one shape or family: nothing else is tried */
    bool with_mutants; /* mutants are judged beside it */
    double share;      /* of all progress, that of the trials */
} campaign;

/* -- Before the trials ------------------------------------------------------------------------------------- */

static tk_status choose_subject(campaign *c)
{
    return c->o->kind->choose(c->subject->ctx, c->o);
}

/* What the options ask for; else what the lowering promises. All trials get it. */
static tk_status choose_attributes(campaign *c)
{
    tk_ctx *ctx = c->subject->ctx;
    tki_outcome *o = c->o;
    tki_trials *trials = c->trials;
    tk_status status = tki_settings_read(ctx, o->contract, o->options, o->attributes);
    if (status != TK_OK)
        return status;
    if (tki_settings_has_numerics(o->contract)) {
        int numerics = tki_choice_of_role(o->contract, o->attributes, TK_ROLE_NUMERICS);
        if (numerics == TKI_NUMERICS_ANY)
            numerics = o->lowering ? o->lowering->numerics : TKI_NUMERICS_IEEE;
        tki_set_role(o->contract, o->attributes, TK_ROLE_NUMERICS, numerics);
        if (numerics == TKI_NUMERICS_TENSOR_CORE || numerics == TKI_NUMERICS_TF32)
            tki_set_role(o->contract, o->attributes, TK_ROLE_MATRIX_UNIT,
                         tki_settings_matrix_unit(ctx, o->lowering, o->options));
    }
    for (int64_t i = 0; i < trials->count; i++)
        for (int a = 0; a < o->contract->attribute_count; a++)
            if (!o->contract->attributes[a].seen_by_kernel)
                trials->list[i].c.attributes[a] = o->attributes[a];
    return trials->count > 0 ? tki_case_check_shape(ctx, &trials->list[0].c) : TK_OK;
}

/* Does compute-sanitizer watch? It knows NVIDIA's devices alone. */
static bool is_watched(const tki_outcome *o)
{
    if (!o->kind->is_kernel_file || !o->backend->has_sanitizer)
        return false;
    return o->options->sanitize == TK_SANITIZE_ALWAYS ||
           (o->options->sanitize == TK_SANITIZE_BY_LEVEL && o->level >= TK_FULL);
}

static tk_status open_subject(campaign *c)
{
    c->o->sanitized.wanted = is_watched(c->o);
    return c->o->kind->open(c->subject, c->o);
}

static tk_status make_record(campaign *c)
{
    c->o->trials = calloc((size_t)c->trials->count + TKI_FOUND_MORE, sizeof *c->o->trials);
    return c->o->trials ? TK_OK : tki_fail(c->subject->ctx, TK_NO_MEMORY, "no memory for the record of trials");
}

static tk_status open_oracle(campaign *c)
{
    tki_subject *subject = c->subject;
    return tki_oracle_open(subject->ctx, c->o->contract, c->o->dtype, &subject->oracle, &subject->tables);
}

/* -- Trials ------------------------------------------------------------------------------------------------ */

static tk_status run_trials(campaign *c)
{
    return tki_campaign_try_all(c->subject, c->o, c->trials, c->share);
}

/* Sizes such that every tensor is small. */
static int64_t small_size(const tk_contract *contract)
{
    int most = 0;
    for (int p = 0; p < contract->param_count; p++)
        most = contract->params[p].rank > most ? contract->params[p].rank : most;
    return most <= 3 ? 37 : 4;
}

/* Bad indices: below zero, one past the end, far outside, and such as would be valid if only their low 32 bits counted;
 * at the first, a middle and the last position. Ends are also bad below the one before them. */
static tk_status run_bad_indices_of(campaign *c, const tki_trial *trial, int param)
{
    tki_subject *subject = c->subject;
    tki_outcome *o = c->o;
    const int64_t count = tk_case_elements(&trial->c, param);
    const int64_t positions[] = {0, count / 2 - 1, count - 1};
    const tk_dtype dtype = tk_case_param_dtype(&trial->c, param);
    const bool wide = dtype == TK_I64;
    const int64_t values[] = {-1,
                              tki_index_values(&trial->c, param),
                              wide ? INT64_MAX : INT32_MAX,
                              wide ? INT64_MIN + 5 : INT32_MIN,
                              (INT64_C(1) << 32) + 5,
                              5 - (INT64_C(1) << 32),
                              (INT64_C(1) << 48) + 1};
    const bool ends = o->contract->params[param].rule == TK_INDICES_ENDS;
    const int outside = wide ? 21 : 12;
    for (int i = 0; i < outside + (ends ? 2 : 0) && count > 2; i++) {
        const int64_t position = i < outside ? positions[i % 3] : positions[1 + i - outside];
        tki_inputs inputs;
        tki_trial_result r;
        tk_status status = tki_inputs_make(subject->ctx, trial, o->options, &inputs);
        if (status != TK_OK)
            return status;
        for (int64_t end = 0; ends && end < count; end++) /* groups of one */
            tki_inputs_set_index(dtype, inputs.data[param], end, end + 1);
        status = tki_trial_run_bad_index(subject, trial, &inputs, param, position,
                                         i < outside ? values[i / 3] : position - 1, &r);
        if (status == TK_OK) {
            tki_outcome_add(o, trial, &inputs, &r);
            tki_outcome_count_failed(o, &r);
            if (r.failed_clause >= 0)
                tki_outcome_refute(o, trial, &r);
        }
        tki_inputs_free(&inputs);
        if (status != TK_OK || o->verdict != TK_HELD)
            return status;
    }
    return TK_OK;
}

static tk_status run_bad_indices(campaign *c)
{
    tki_outcome *o = c->o;
    tki_trial trial = {.c = tki_outcome_case(o), .family = 0, .seed = o->options->seed};
    tk_status status = TK_OK;
    memcpy(trial.c.attributes, o->attributes, sizeof trial.c.attributes);
    for (int d = 0; d < o->contract->dim_count; d++)
        trial.c.dims[d] = small_size(o->contract);
    if (!tki_case_settle(&trial.c))
        return TK_OK;
    for (int p = -1; status == TK_OK && o->verdict == TK_HELD && (p = tki_next_index_param(o->contract, p)) >= 0;)
        status = run_bad_indices_of(c, &trial, p);
    return status;
}

/* A trial that the certificate to be repeated lists has been run with the others. */
static tk_status run_found(void *data, const tki_trial *trial, bool *stop)
{
    const campaign *c = data;
    bool known = false;
    for (int64_t i = 0; i < c->o->trial_count && !known; i++)
        known = tki_trial_same(&c->o->trials[i].trial, trial);
    *stop = false;
    tk_status status = known ? TK_OK : tki_campaign_try(c->subject, c->o, trial, stop);
    /* A path that was led to by sizes has yet to meet inputs that tell. */
    for (int i = 0;
         status == TK_OK && !known && !*stop && !trial->planted_count && tki_family_telling(c->o->contract, i) >= 0;
         i++) {
        tki_trial telling = *trial;
        telling.family = tki_family_telling(c->o->contract, i);
        if (telling.family != trial->family)
            status = tki_campaign_try(c->subject, c->o, &telling, stop);
    }
    return status;
}

/* The kernel's constants as sizes, indices, options and elements, on the build that is judged: a kernel that knows how it
 * is built can mislead the search that comes next. */
static tk_status run_constants(campaign *c)
{
    tki_outcome *o = c->o;
    tki_constant_trials trials;
    bool over = false;
    if (!c->trials->count)
        return TK_OK;
    tk_status status = tki_constant_trials_make(c->subject->ctx, &c->trials->list[0], o->options,
                                                tki_kernel_file_constants(c->subject->ctx, o->options->kernel_file),
                                                &trials);
    for (int i = 0; i < trials.count && status == TK_OK && !over && !tki_outcome_is_out_of_time(o, c->subject->ctx);
         i++) {
        status = tki_campaign_glance(c->subject, o, &trials.list[i], &over);
        if (status == TK_NO_MEMORY) /* one less, and not the end */
            status = TK_OK;
    }
    free(trials.list);
    return status;
}

/* What an instrumented build of the kernel leads to. */
static tk_status run_coverage(campaign *c)
{
    return tki_explore(c->subject->ctx, c->o->contract, c->o->options, c->trials, c->subject->suspicion, run_found, c,
                       &c->o->exploration);
}

/* Once more, and the bits are those of the first time. */
static tk_status come_again(campaign *c, const tki_trial *trial, const tki_trial_record *record, int64_t *count)
{
    tki_subject *subject = c->subject;
    tki_outcome *o = c->o;
    tki_inputs inputs;
    tki_trial_result r;
    tk_status status = tki_inputs_make(subject->ctx, trial, o->options, &inputs);
    if (status != TK_OK)
        return status;
    status = tki_trial_run_again(subject, trial, &inputs, record->output_hash, &r);
    if (status == TK_OK)
        tki_outcome_add(o, trial, &inputs, &r);
    tki_inputs_free(&inputs);
    if (status != TK_OK)
        return status;
    ++*count;
    if (r.could_not_run && tki_outcome_is_out_of_time(o, subject->ctx))
        return TK_OK;
    if (r.could_not_run)
        tki_outcome_leave_open(o, &r);
    else if (r.failed_clause >= 0)
        tki_outcome_refute(o, &record->trial, &r);
    return TK_OK;
}

static bool goes_on(campaign *c)
{
    return c->o->verdict == TK_HELD && !tki_outcome_is_out_of_time(c->o, c->subject->ctx);
}

/* Until the process of the trials has been there for so long, and no longer than there is time. */
static void wait_for_age(const campaign *c, double seconds)
{
    const tki_runner *runner = tki_runner_of(c->subject->caller);
    const double left = seconds - tki_runner_age(runner).seconds;
    const double most = tki_ctx_deadline(c->subject->ctx, left) - tki_now(), wait = left < most ? left : most;
    if (wait > 0)
        nanosleep(&(struct timespec){(time_t)wait, (long)(1e9 * (wait - floor(wait)))}, NULL);
}

/* One of the trials that held, small enough to come again; NULL if draws find none. */
static const tki_trial_record *draw_small(const tki_outcome *o, tki_random *random, int64_t most_elements)
{
    enum { MOST_DRAWS = 1000 };
    for (int i = 0; i < MOST_DRAWS && o->trial_count; i++) {
        const tki_trial_record *record = &o->trials[tki_random_below(random, (uint64_t)o->trial_count)];
        if (record->repeats == 1 && record->elements > 0 && record->elements <= most_elements)
            return record;
    }
    return NULL;
}

/* Small trials come again in the process of all others, which thousands of calls and some seconds of real time have made old: a kernel that
 * is right until then is found out. */
static tk_status run_late(campaign *c)
{
    enum { CALLS = 5000, SECONDS = 6 };
    tki_outcome *o = c->o;
    tk_status status = TK_OK;
    tki_random random = tki_random_stream(o->options->seed, 2);
    wait_for_age(c, SECONDS);
    for (int i = 0; i < TKI_LATE_CALLS && o->came_late < TKI_LATE_TRIALS && status == TK_OK && goes_on(c); i++) {
        const tki_trial_record *record = draw_small(o, &random, TKI_LATE_ELEMENTS);
        int64_t earlier = 0;
        const bool late = tki_runner_age(tki_runner_of(c->subject->caller)).calls >= CALLS;
        if (!record)
            break;
        status = come_again(c, &record->trial, record, late ? &o->came_late : &earlier);
    }
    return status;
}

/* Trials that held come again, in an order of their own, after everything else: a kernel that is right only the first
 * times, or that an earlier call has put right, is found out. Every fifth goes to a fresh process, most of them with a
 * guarded heap: memory that a kernel keeps for one shape and uses for another is overrun there. */
static tk_status run_again(campaign *c)
{
    tki_subject *subject = c->subject;
    tki_outcome *o = c->o;
    enum {
        MOST_ELEMENTS = 1 << 16,
        EACH_FRESH = 5,
        EACH_PLAIN = 3,
        MANY_THREADS = 16,
        ENOUGH = 1 << 13,
        FRESH_DRAWS = 100
    };
    const int64_t count = tki_campaign_again(o->level);
    tki_random random = tki_random_stream(o->options->seed, 1);
    for (int64_t i = 0; i < count && goes_on(c); i++) {
        const bool fresh = i % EACH_FRESH == EACH_FRESH - 1;
        const tki_trial_record *record = draw_small(o, &random, MOST_ELEMENTS);
        if (!record)
            break;
        /* What is made on first use is often for long lines, and threads that begin together meet where each has something to do. */
        for (int draw = 1; fresh && draw < FRESH_DRAWS && record->elements < ENOUGH; draw++) {
            const tki_trial_record *other = draw_small(o, &random, MOST_ELEMENTS);
            record = other && other->elements > record->elements ? other : record;
        }
        const bool guarded = i / EACH_FRESH % EACH_PLAIN != EACH_PLAIN - 1;
        if (i % EACH_FRESH == 0)
            tki_runner_prepare(tki_runner_of(subject->caller), guarded);
        tki_trial trial = record->trial;
        tk_status status = fresh ? tki_subject_renew(subject, o, guarded) : TK_OK;
        if (status != TK_OK || o->verdict != TK_HELD)
            return status;
        /* What a process makes on first use is made for the other type, and by many threads at once. */
        if (fresh && i / EACH_FRESH % 2)
            status = tki_trial_visit(subject, &trial);
        if (fresh && !trial.threads)
            trial.threads = MANY_THREADS;
        if (status == TK_OK)
            status = come_again(c, &trial, record, &o->came_again);
        if (status != TK_OK)
            return status;
    }
    return TK_OK;
}

static tk_status note_sanitized(tki_subject *subject, tki_outcome *o, const tki_trial *trial)
{
    const tki_sanitized *s = &o->sanitized;
    o->verdict = TK_REFUTED;
    o->failed_clause = tki_sanitize_clause(o->contract, s->report.kind);
    o->refuted[o->failed_clause] = true;
    o->cause = (tki_cause){.kind = TKI_CAUSE_SANITIZER,
                           .name = tki_sanitizer_name(s->tool),
                           .meaning = tki_sanitize_meaning(s->report.kind)};
    snprintf(o->cause.words, sizeof o->cause.words, "%s", s->report.text);
    if (!trial)
        return TK_OK;
    tki_inputs inputs;
    tk_status status = tki_inputs_make(subject->ctx, trial, o->options, &inputs);
    if (status != TK_OK)
        return status;
    o->failed_trial = *trial;
    tki_trial given = *trial;
    given.family = TKI_GIVEN_INPUTS;
    given.seed = tki_trial_calls_seed(trial);
    o->failing_case = tki_case_json(o, trial, &given, &inputs, false);
    tki_inputs_free(&inputs);
    return o->failing_case ? TK_OK : tki_fail(subject->ctx, TK_NO_MEMORY, "no memory for the failing case");
}

/* Some of the trials that held, watched by compute-sanitizer where it is found. */
static tk_status run_sanitized(campaign *c)
{
    tki_subject *subject = c->subject;
    tki_outcome *o = c->o;
    enum { MOST = 24 };
    const tki_trial *list[MOST], *failed = NULL;
    tki_sanitize_trials chosen = {.list = list, .options = o->options};
    const tki_trial **all = calloc((size_t)o->trial_count + 1, sizeof *all);
    if (!all)
        return tki_fail(subject->ctx, TK_NO_MEMORY, "no memory for a list of trials");
    for (int64_t i = 0; i < o->trial_count; i++)
        all[i] = &o->trials[i].trial;
    tki_sanitize_choose(all, o->trial_count, o->options->seed, o->level == TK_QUICK ? 8 : MOST, &chosen);
    tk_status status = tki_sanitize(subject->ctx, o->options->kernel_file, o->contract, &chosen, &o->sanitized,
                                    &failed);
    if (status == TK_OK && o->sanitized.tool)
        status = note_sanitized(subject, o, failed);
    free(all);
    return status;
}

static void report_mutants(double done, const char *what, void *data)
{
    const campaign *c = data;
    tki_outcome_report(c->o, c->share + (1 - c->share) * done, what);
}

static tk_status run_mutants(campaign *c)
{
    tki_outcome *o = c->o;
    if (tki_outcome_is_out_of_time(o, c->subject->ctx))
        return TK_OK;
    tk_status status = tki_mutants_judge(
        c->subject->ctx, o->contract, (tk_types){o->dtype, o->result_dtype}, o->index_dtype,
        (tki_mutants_asked){o->options->fresh_mutants != 0, o->mutants_seed}, report_mutants, c, &o->mutants);
    if (status == TK_TIMEOUT && tki_outcome_is_out_of_time(o, c->subject->ctx))
        return TK_OK;
    for (int i = 0; i < o->mutants.count && o->verdict == TK_HELD; i++)
        if (!o->mutants.list[i].rejected) {
            o->verdict = TK_UNKNOWN;
            o->cause = (tki_cause){.kind = TKI_CAUSE_MUTANT, .name = o->mutants.list[i].mutant->name};
        }
    return status;
}

/* -- The verdict ------------------------------------------------------------------------------------------- */

static tk_status conclude(campaign *c)
{
    tki_outcome_conclude(c->o, c->trials->count);
    return TK_OK;
}

/* -- The list ---------------------------------------------------------------------------------------------- */

static bool always(const campaign *c)
{
    (void)c;
    return true;
}

static bool while_it_holds(const campaign *c)
{
    return c->o->verdict == TK_HELD;
}

static bool for_bad_indices(const campaign *c)
{
    return while_it_holds(c) && !c->restricted && c->o->lowering &&
           tki_clause_find(c->o->contract, TK_CLAUSE_INDEX) >= 0;
}

static bool of_kernel_file(const campaign *c)
{
    return while_it_holds(c) && c->o->kind->is_kernel_file;
}

static bool for_late_calls(const campaign *c)
{
    return of_kernel_file(c) && c->o->level >= TK_FULL;
}

static bool for_constants(const campaign *c)
{
    return of_kernel_file(c) && !c->restricted;
}

static bool for_coverage(const campaign *c)
{
    return of_kernel_file(c) && !c->restricted && !c->o->options->skip_coverage;
}

static bool for_sanitizer(const campaign *c)
{
    return while_it_holds(c) && !c->o->out_of_time && c->o->sanitized.wanted;
}

/* A kernel file that failed has its verdict; certificates of others show the mutants in any case. */
static bool for_mutants(const campaign *c)
{
    return c->with_mutants && (while_it_holds(c) || !c->o->kind->is_kernel_file);
}

static const struct step {
    bool (*applies)(const campaign *c);
    tk_status (*take)(campaign *c);
    const char *name; /* told to the caller when it begins; NULL: the step itself says how far it is, or is short */
    double done;      /* of all progress by then */
} steps[] = {
    {always, open_oracle, NULL, 0},
    {always, choose_subject, NULL, 0},
    {always, choose_attributes, NULL, 0},
    {always, open_subject, NULL, 0},
    {always, make_record, NULL, 0},
    {while_it_holds, run_trials, NULL, 0},
    {for_bad_indices, run_bad_indices, NULL, 0},
    {for_constants, run_constants, NULL, 0},
    {for_coverage, run_coverage, "coverage", 0.9},
    {for_late_calls, run_late, "late calls", 0.95},
    {of_kernel_file, run_again, NULL, 0},
    {for_sanitizer, run_sanitized, "compute-sanitizer", 1},
    {for_mutants, run_mutants, NULL, 0},
    {always, conclude, NULL, 0},
};

tk_status tki_campaign_run(tki_subject *subject, tki_outcome *o, tki_trials *trials)
{
    const bool restricted = o->options->dims || o->options->family;
    const bool with_mutants = !o->options->skip_mutants && !restricted && !o->kind->planted;
    campaign c = {.subject = subject,
                  .o = o,
                  .trials = trials,
                  .restricted = restricted,
                  .with_mutants = with_mutants,
                  .share = with_mutants ? 0.8 : 1.0};
    tk_status status = TK_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == TK_OK; i++) {
        if (!steps[i].applies(&c))
            continue;
        if (steps[i].name)
            tki_outcome_report(o, steps[i].done, steps[i].name);
        status = steps[i].take(&c);
    }
    tki_runner_close(tki_runner_of(subject->caller));
    return status;
}
