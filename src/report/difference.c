/* SHOWS. Two certificates, member by member and trial by trial. */
#include "report/difference.h"

#include <stdlib.h>
#include <string.h>

#include "certify/member_walk.h"
#include "certify/replay_compare.h"
#include "core/context.h"

enum { MOST_EXAMPLES = 32 };

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
    for (size_t i = 0; i < json_array_size(clauses); i++)
        if (!strcmp(tki_text(json_array_get(clauses, i), "id"), id))
            return json_array_get(clauses, i);
    return NULL;
}

/* Clauses whose text or verdict is not that of the other certificate, and those that only the second has. */
static void compare_clauses(const json_t *first, const json_t *second, json_t *list)
{
    static const char *const parts[] = {"text", "verdict"};
    for (size_t i = 0; i < json_array_size(first); i++) {
        const json_t *clause = json_array_get(first, i), *other = find_clause(second, tki_text(clause, "id"));
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            const json_t *here = json_object_get(clause, parts[p]), *there = json_object_get(other, parts[p]);
            if (!same(here, there) && (other || p > 0))
                add_difference(list, tki_text(clause, "id"), here, there);
        }
    }
    for (size_t i = 0; i < json_array_size(second); i++) {
        const json_t *clause = json_array_get(second, i);
        if (!find_clause(first, tki_text(clause, "id")))
            add_difference(list, tki_text(clause, "id"), NULL, json_object_get(clause, "verdict"));
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
    for (const tki_member *m = tki_members; m->name; m++) {
        const json_t *before = tki_member_get(first, m), *after = tki_member_get(second, m);
        if (m->how & TKI_DIFFED && !same(before, after))
            add_difference(list, m->title, before, after);
    }
    compare_clauses(tki_certificate_get(first, "clauses"), tki_certificate_get(second, "clauses"), list);
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
        return tki_fail(ctx, TK_BAD_ARGUMENT, "first, second and json must not be NULL");
    json_t *difference = tki_certificate_difference(first, second);
    *json = difference ? tki_statement_text(difference) : NULL;
    json_decref(difference);
    return *json ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory to compare certificates");
}
