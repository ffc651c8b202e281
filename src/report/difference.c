/* TRUSTED. Two certificates, member by member and trial by trial. */
#include "report/difference.h"

#include <stdlib.h>
#include <string.h>

#include "certify/replay_compare.h"
#include "core/context.h"

enum { MOST_EXAMPLES = 32 };

/* What is compared, by its path in the predicate; in the order in which it explains what comes after it. */
static const struct {
    const char *what;
    const char *path;
} members[] = {
    {"subject", "run.subject"},
    {"kind", "run.kind"},
    {"op", "run.op"},
    {"dtype", "run.dtype"},
    {"index type", "run.index_dtype"},
    {"bound", "contract.bound"},
    {"formula", "contract.formula"},
    {"tokitai", "tokitai"},
    {"source", "built.source"},
    {"source SHA-256", "built.source_sha256"},
    {"compiler", "built.compiler"},
    {"options", "built.options"},
    {"artifact SHA-256", "built.artifact_sha256"},
    {"backend", "machine.backend"},
    {"device", "machine.device"},
    {"claimed device", "machine.claimed_device"},
    {"architecture", "machine.architecture"},
    {"device UUID", "machine.uuid"},
    {"units", "machine.units"},
    {"host", "machine.host"},
    {"features", "machine.features"},
    {"driver", "machine.driver"},
    {"level", "run.level"},
    {"seed", "run.seed"},
    {"numerics", "run.numerics"},
    {"domain", "run.domain"},
    {"shape", "run.shape"},
    {"family", "run.family"},
    {"options", "run.options"},
    {"attributes", "run.attributes"},
    {"inputs", "run.inputs"},
    {"tensors given", "run.given"},
    {"verdict", "verdict"},
    {"grade", "result.refutation.grade"},
    {"wrong elements", "result.refutation.elements"},
    {"reason", "reason"},
    {"determinism", "result.determinism"},
    {"worst ulp", "result.worst_ulp"},
    {"bound used", "result.bound_used"},
};

/* json_equal() takes an absent one for unequal to another absent one. */
static bool same(const json_t *a, const json_t *b)
{
    return a && b ? json_equal(a, b) : a == b;
}

/* JSON's null stands for a member that is absent. */
static json_t *copy_or_null(const json_t *value)
{
    return value ? json_deep_copy(value) : json_null();
}

static void add_difference(json_t *list, const char *what, const json_t *first, const json_t *second)
{
    json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "what", what, "first", copy_or_null(first), "second",
                                          copy_or_null(second)));
}

static const json_t *find_clause(const json_t *clauses, const char *id)
{
    for (size_t i = 0; id && i < json_array_size(clauses); i++) {
        const json_t *clause = json_array_get(clauses, i);
        const char *other = json_string_value(json_object_get(clause, "id"));
        if (other && !strcmp(other, id))
            return clause;
    }
    return NULL;
}

/* Clauses whose text or verdict is not that of the other certificate; with `missing_only`, those that it has not. */
static void compare_clauses(const json_t *from, const json_t *to, bool missing_only, json_t *list)
{
    for (size_t i = 0; i < json_array_size(from); i++) {
        const json_t *clause = json_array_get(from, i);
        const char *id = json_string_value(json_object_get(clause, "id"));
        const json_t *other = find_clause(to, id);
        if (!id)
            continue;
        if (missing_only && !other)
            add_difference(list, id, NULL, json_object_get(clause, "verdict"));
        if (missing_only)
            continue;
        static const char *const parts[] = {"text", "verdict"};
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            const json_t *here = json_object_get(clause, parts[p]);
            const json_t *there = json_object_get(other, parts[p]);
            if (!same(here, there) && (other || p > 0))
                add_difference(list, id, here, there);
        }
    }
}

/* -- Output bits, trial by trial ----------------------------------------------------------------------------- */

/* Trials by what they ran on, in a JSON object; NULL when memory ran out. Of equal ones the first counts. */
static json_t *index_trials(const json_t *trials)
{
    json_t *index = json_object();
    for (size_t i = 0; index && i < json_array_size(trials); i++) {
        json_t *trial = json_array_get(trials, i);
        char *name = json_is_object(trial) ? tki_trial_name(trial) : strdup("");
        bool good = name && (json_object_get(index, name) || !json_object_set(index, name, trial));
        free(name);
        if (!good) {
            json_decref(index);
            return NULL;
        }
    }
    return index;
}

static json_t *compare_trials(const json_t *first, const json_t *second)
{
    json_t *a = index_trials(first);
    json_t *b = index_trials(second);
    json_t *examples = json_array(), *trials = NULL;
    const char *name;
    json_t *trial;
    int equal = 0, different = 0, only_first = 0, only_second = 0;
    if (a && b && examples) {
        json_object_foreach(a, name, trial)
        {
            const json_t *other = json_object_get(b, name);
            const json_t *hash = json_object_get(trial, "output_sha256");
            if (!other) {
                only_first++;
            } else if (same(hash, json_object_get(other, "output_sha256"))) {
                equal++;
            } else if (different++ < MOST_EXAMPLES) {
                json_array_append_new(examples,
                                      json_pack("{s:O, s:o, s:o}", "trial", trial, "first", copy_or_null(hash),
                                                "second", copy_or_null(json_object_get(other, "output_sha256"))));
            }
        }
        json_object_foreach(b, name, trial) only_second += json_object_get(a, name) == NULL;
        trials = json_pack("{s:i, s:i, s:i, s:i, s:O}", "same", equal, "different", different, "only_first",
                           only_first, "only_second", only_second, "examples", examples);
    }
    json_decref(a);
    json_decref(b);
    json_decref(examples);
    return trials;
}

static bool all_trials_same(const json_t *trials)
{
    static const char *const others[] = {"different", "only_first", "only_second"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (json_integer_value(json_object_get(trials, others[i])))
            return false;
    return true;
}

json_t *tki_certificate_difference(const tk_certificate *first, const tk_certificate *second)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *before = tki_certificate_get(first, members[i].path);
        const json_t *after = tki_certificate_get(second, members[i].path);
        if (!same(before, after))
            add_difference(list, members[i].what, before, after);
    }
    const json_t *clauses[] = {tki_certificate_get(first, "clauses"), tki_certificate_get(second, "clauses")};
    compare_clauses(clauses[0], clauses[1], false, list);
    compare_clauses(clauses[1], clauses[0], true, list);
    json_t *trials = compare_trials(tki_certificate_get(first, "run.trials"),
                                    tki_certificate_get(second, "run.trials"));
    const bool equal = !json_array_size(list) && all_trials_same(trials);
    json_t *difference = list && trials
                             ? json_pack("{s:b, s:O, s:O}", "same", equal, "differences", list, "trials", trials)
                             : NULL;
    json_decref(list);
    json_decref(trials);
    return difference;
}

tk_status tk_certificate_diff(tk_ctx *ctx, const tk_certificate *first, const tk_certificate *second, char **json)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!first || !second || !json)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no certificate, or nowhere to put what changed");
    json_t *difference = tki_certificate_difference(first, second);
    *json = difference ? tki_statement_text(difference) : NULL;
    json_decref(difference);
    return *json ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory to compare certificates");
}
