/* RECORDS. What a certificate says came out of its run, held against what ran: how often clauses were checked, what the level adds, which
 * determinism was seen, and the elements that it shows. */
#include "certify/outcome_claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/campaign.h"
#include "certify/certificate.h"
#include "certify/claims.h"
#include "certify/replay_compare.h"
#include "certify/replay_recipe.h"
#include "exact/round.h"
#include "model/case.h"
#include "trials/constant_trials.h"

typedef struct finding {
    const tk_certificate *certificate;
    const tk_contract *contract;
    char *what;
    size_t size;
} finding;

#define CONTRADICTS(f, ...) (snprintf((f)->what, (f)->size, __VA_ARGS__), true)

static const json_t *get(const finding *f, const char *path)
{
    return tki_certificate_get(f->certificate, path);
}

static bool kind_is(const finding *f, const char *kind)
{
    return !strcmp(tki_certificate_text(f->certificate, "run.kind"), kind);
}

/* -- Trials ---------------------------------------------------------------------------------------------------- */

static bool listed_case(const finding *f, const json_t *trial, tk_case *c)
{
    const json_t *options = json_object_get(trial, "options");
    tk_types types;
    if (!tk_types_parse(tki_certificate_text(f->certificate, "run.dtype"), &types))
        return false;
    *c = tk_case_init(f->contract, types.dtype);
    c->result_dtype = types.result_dtype;
    tki_recipe_settings(get(f, "run"), f->contract, c->attributes);
    for (int d = 0; d < f->contract->dim_count; d++)
        c->dims[d] = tki_integer(json_object_get(trial, "shape"), f->contract->dim_names[d]);
    for (int a = 0; a < f->contract->attribute_count; a++)
        if (json_object_get(options, f->contract->attributes[a].name))
            c->attributes[a] = tki_recipe_value(&f->contract->attributes[a],
                                                json_object_get(options, f->contract->attributes[a].name));
    return true;
}

static json_int_t calls_of(const json_t *trials)
{
    json_int_t calls = 0;
    for (size_t i = 0; i < json_array_size(trials); i++) {
        const json_int_t chunks = tki_integer(json_array_get(trials, i), "chunks");
        if (__builtin_add_overflow(calls, chunks ? chunks : 1, &calls))
            return INT64_MAX;
    }
    return calls;
}

/* -- Checks ---------------------------------------------------------------------------------------------------- */

/* Each element is decided by one clause about values, and each trial by those about writing, shape and repetition. */
static bool checks_differ(const finding *f)
{
    enum { BAD_INDICES = 23 };
    const json_t *clauses = get(f, "clauses");
    const json_int_t elements = tk_certificate_elements(f->certificate),
                     calls = kind_is(f, "given") ? 0 : calls_of(get(f, "run.trials"));
    const json_int_t late = tki_certificate_integer(f->certificate, "run.came_late"),
                     again = tki_certificate_integer(f->certificate, "run.came_again") + late;
    const bool lowering = kind_is(f, "lowering");
    json_int_t values = 0;
    for (int i = 0; i < f->contract->clause_count; i++) {
        const json_int_t checks = tki_integer(json_array_get(clauses, (size_t)i), "checks");
        json_int_t most = calls, least = 0;
        switch (f->contract->clauses[i].kind) {
        case TK_CLAUSE_VALUE:
        case TK_CLAUSE_ERROR:
            if (__builtin_add_overflow(values, checks, &values))
                values = INT64_MAX;
            most = elements;
            break;
        case TK_CLAUSE_PROMISE:
        case TK_CLAUSE_BITS: most = lowering ? elements : 0; break;
        case TK_CLAUSE_WRITE:
        case TK_CLAUSE_SHAPE: least = calls; break;
        case TK_CLAUSE_REPEAT:
            least = calls + again;
            most = least + (late ? TKI_LATE_CALLS : 0); /* until its process is old */
            break;
        case TK_CLAUSE_IN_PLACE: break;
        case TK_CLAUSE_INDEX: most = lowering ? BAD_INDICES * f->contract->param_count : 0; break;
        }
        if (checks < least || checks > most)
            return CONTRADICTS(f, "clause %.80s has %lld checks; its run gives %lld%s%.0lld",
                               f->contract->clauses[i].id, (long long)checks, (long long)least,
                               least < most ? " to " : "", (long long)(least < most ? most : 0));
    }
    if (tki_certificate_integer(f->certificate, "result.refined") > elements ||
        tki_certificate_integer(f->certificate, "result.undecided") > elements)
        return CONTRADICTS(f, "it refined, or left undecided, more elements than were judged");
    return values != elements &&
           CONTRADICTS(f, "%lld elements were judged, but its clauses about values have %lld checks",
                       (long long)elements, (long long)values);
}

/* -- The level ------------------------------------------------------------------------------------------------- */

static bool has_trial(const json_t *trials, const char *family, json_int_t most_elements)
{
    for (size_t i = 0; i < json_array_size(trials); i++) {
        const json_t *trial = json_array_get(trials, i);
        const json_int_t elements = tki_integer(trial, "elements");
        if (family ? !strcmp(tki_text(trial, "family"), family) : elements > 0 && elements <= most_elements)
            return true;
    }
    return false;
}

/* Of one case a level makes no other trials: what it does beside them shows it. */
static bool level_differs(const finding *f)
{
    const tk_certificate *c = f->certificate;
    const char *level = tki_certificate_text(c, "run.level");
    const bool quick = !strcmp(level, tk_level_name(TK_QUICK)), is_file = tki_certificate_is_of_file(c);
    const json_int_t late = tki_certificate_integer(c, "run.came_late"),
                     again = tki_certificate_integer(c, "run.came_again"),
                     constants = tki_certificate_integer(c, "run.constants");
    const bool restricted = get(f, "run.shape") || get(f, "run.family"), holds = tki_certificate_holds(c);
    if (kind_is(f, "given"))
        return false;
    if (!strcmp(level, tk_level_name(TK_EXHAUSTIVE)) &&
        (restricted || (holds && !has_trial(get(f, "run.trials"), "all_patterns", 0))))
        return CONTRADICTS(f, "its level is exhaustive, but no trial has the family all_patterns");
    if (!is_file && get(f, "run.shape") && !quick)
        return CONTRADICTS(f, "its run is restricted to one shape, for which there is no level %.40s", level);
    if (!is_file || !holds)
        return false;
    if (late > (quick ? 0 : TKI_LATE_TRIALS) ||
        (!quick && !late && has_trial(get(f, "run.trials"), NULL, TKI_LATE_ELEMENTS)))
        return CONTRADICTS(f, "%lld trials came late, which is not what level %.40s does", (long long)late, level);
    if (again > tki_campaign_again(quick ? TK_QUICK : TK_FULL))
        return CONTRADICTS(f, "%lld trials came again, more than at level %.40s", (long long)again, level);
    if (constants > (restricted ? 0 : tki_constant_trials_most(quick ? TK_QUICK : TK_FULL)))
        return CONTRADICTS(f, "%lld calls had constants of the kernel, more than at level %.40s",
                           (long long)constants, level);
    return false;
}

/* -- Determinism ----------------------------------------------------------------------------------------------- */

/* A part of the batch is run alone where there are two rows or more. That every backend gives the same bits is promised, and not seen. */
static bool determinism_differs(const finding *f)
{
    const char *said = tki_certificate_text(f->certificate, "result.determinism");
    const json_t *trials = get(f, "run.trials");
    const char *batch = f->contract->dim_names[tki_batch_dim(f->contract)];
    const tki_lowering *lowering = kind_is(f, "lowering") ? tki_lowering_of_run(get(f, "run"), f->contract) : NULL;
    const bool promised = lowering && lowering->determinism == TK_CROSS_DEVICE &&
                          tki_certificate_holds(f->certificate);
    if (promised != !strcmp(said, tk_determinism_name(TK_CROSS_DEVICE)))
        return CONTRADICTS(f, "its determinism is %s; what was run promises %s bits on every backend", said,
                           promised ? "the same" : "no same");
    if (strcmp(said, tk_determinism_name(TK_BATCH_INVARIANT)) != 0)
        return false;
    for (size_t i = 0; i < json_array_size(trials); i++)
        if (tki_integer(json_object_get(json_array_get(trials, i), "shape"), batch) > 1)
            return false;
    return CONTRADICTS(f, "its determinism is %s, but no trial has a batch of two", said);
}

/* -- Elements -------------------------------------------------------------------------------------------------- */

static bool is_listed(const finding *f, const json_t *trial)
{
    const json_t *trials = get(f, "run.trials");
    char *name = tki_trial_name(trial);
    bool found = false;
    for (size_t i = 0; i < json_array_size(trials) && name && !found; i++) {
        char *other = tki_trial_name(json_array_get(trials, i));
        found = other && !strcmp(name, other);
        free(other);
    }
    free(name);
    return found;
}

static int output_named(const tk_contract *contract, const char *name)
{
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].output && !strcmp(contract->params[p].name, name))
            return p;
    return -1;
}

/* Bits are what they stand for; what is said of an interval is there as a whole. */
static bool element_differs(const finding *f, const char *path)
{
    static const char *const of_interval[] = {"exact", "bound", "bound_used", "admissible"};
    const json_t *element = get(f, path), *trial = json_object_get(element, "trial");
    tk_case c;
    int parts = 0;
    if (!element)
        return false;
    const int output = output_named(f->contract, tki_text(element, "output"));
    if (output < 0 || !listed_case(f, trial, &c) || tki_integer(element, "index") >= tk_case_elements(&c, output))
        return CONTRADICTS(f, "%s is of no output of its trial", path);
    const tk_dtype dtype = tk_case_param_dtype(&c, output);
    const char *bits = tki_text(element, "got_bits");
    json_t *due = tki_element_json(dtype, strtoull(bits, NULL, 16));
    const bool same = strlen(bits) == 2 + 2 * tk_dtype_size(dtype) &&
                      json_equal(due, json_object_get(element, "got"));
    json_decref(due);
    if (!same)
        return CONTRADICTS(f, "%s.got is not what its bits stand for", path);
    for (size_t i = 0; i < sizeof of_interval / sizeof *of_interval; i++)
        parts += json_object_get(element, of_interval[i]) != NULL;
    const json_t *ends = json_object_get(element, "admissible");
    if (parts % 4 || (parts && json_array_size(ends) != 2))
        return CONTRADICTS(f, "%s has a part of an interval", path);
    return false;
}

static bool elements_differ(const finding *f)
{
    const json_t *worst = get(f, "result.worst"), *used = json_object_get(worst, "bound_used");
    if (element_differs(f, "result.worst") || element_differs(f, "result.failure"))
        return true;
    if (!tki_certificate_holds(f->certificate))
        return false;
    if (worst && !is_listed(f, json_object_get(worst, "trial")))
        return CONTRADICTS(f, "its worst element is of a trial that it does not list");
    if (!worst && tk_certificate_elements(f->certificate) && tk_certificate_worst_ulp(f->certificate) > 0)
        return CONTRADICTS(f, "its worst element is missing");
    return used && json_number_value(used) > tk_certificate_bound_used(f->certificate) &&
           CONTRADICTS(f, "its worst element uses more of the bound than any");
}

bool tki_outcome_contradicts(const tk_certificate *certificate, const tk_contract *contract, char *what, size_t size)
{
    const finding f = {certificate, contract, what, size};
    return determinism_differs(&f) || elements_differ(&f) || level_differs(&f) ||
           (tki_certificate_holds(certificate) && checks_differ(&f));
}
