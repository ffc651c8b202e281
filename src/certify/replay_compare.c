/* RECORDS. Did it come out the same? All that a certificate says of the trials is compared, but for what depends on
 * the machine. */
#include "certify/replay_compare.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/consistency.h"
#include "certify/member_walk.h"

char *tki_difference(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : text;
}

char *tki_trial_name(const json_t *trial)
{
    json_t *copy = tki_trial_without_results(trial);
    char *name = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    json_decref(copy);
    return name;
}

static char *short_text(const json_t *value)
{
    enum { MOST = 160 };
    char *dumped = value ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_ENSURE_ASCII |
                                                 JSON_REAL_PRECISION(17))
                         : strdup("nothing");
    if (dumped && strlen(dumped) > MOST)
        strcpy(dumped + MOST - 4, " ...");
    return dumped;
}

/* *difference, memory permitting: this member came out otherwise. The first of its parts that did is named. */
static bool differ(const char *member, const json_t *old, const json_t *new, char **difference)
{
    char part[200];
    if (json_is_array(old) && json_array_size(old) == json_array_size(new))
        for (size_t i = 0; i < json_array_size(old); i++)
            if (!json_equal(json_array_get(old, i), json_array_get(new, i))) {
                snprintf(part, sizeof part, "%s[%zu]", member, i);
                return differ(part, json_array_get(old, i), json_array_get(new, i), difference);
            }
    const char *name;
    json_t *value;
    json_object_foreach(json_is_object(new) ? (json_t *)(uintptr_t)old : NULL, name, value)
    {
        if (!json_equal(value, json_object_get(new, name))) {
            snprintf(part, sizeof part, "%s.%.60s", member, name);
            return differ(part, value, json_object_get(new, name), difference);
        }
    }
    char *before = short_text(old), *now = short_text(new);
    *difference = tki_difference("%s is now %s, the certificate says %s", member, now ? now : "",
                                 before ? before : "");
    free(before);
    free(now);
    return true;
}

static bool member_differs(const tk_certificate *before, const tk_certificate *after, const char *path,
                           char **difference)
{
    const json_t *old = tki_certificate_get(before, path), *new = tki_certificate_get(after, path);
    const bool current = tki_certificate_of_this_version(before) && tki_certificate_is_current(before);
    bool same = old && new ? json_equal(old, new) : !old && (!new || !current);
    return !same && differ(path, old, new, difference);
}

/* Each mutant that is recorded: what is wrong with it, and whether it was rejected. */
static bool mutants_differ(const tk_certificate *before, const tk_certificate *after, char **difference)
{
    const json_t *old = tki_certificate_get(before, "mutants"), *new = tki_certificate_get(after, "mutants");
    static const char *const members[] = {"name", "what", "rejected"};
    for (size_t i = 0; i < json_array_size(old); i++) {
        const json_t *a = json_array_get(old, i), *b = NULL;
        for (size_t k = 0; k < json_array_size(new) && !b; k++)
            if (json_equal(json_object_get(a, "name"), json_object_get(json_array_get(new, k), "name")))
                b = json_array_get(new, k);
        for (size_t m = 0; m < sizeof members / sizeof *members; m++)
            if (!json_equal(json_object_get(a, members[m]), json_object_get(b, members[m])))
                return differ("a mutant", a, b, difference);
    }
    if (tki_certificate_of_this_version(before) && json_array_size(old) &&
        json_array_size(old) != json_array_size(new)) {
        *difference = tki_difference("%zu mutants were run, the certificate lists %zu", json_array_size(new),
                                     json_array_size(old));
        return true;
    }
    return false;
}

/* Which of its lines ran, as far as the same compiler and the same version, which chooses its flags, were at work. A trial
 * that was found and failed is in the list of the next run. */
static bool coverage_differs(const tk_certificate *before, const tk_certificate *after, char **difference)
{
    static const char *const paths[] = {"coverage.known", "coverage.lines"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (tki_certificate_holds(before) && tki_certificate_of_this_version(before) &&
            !json_is_false(tki_certificate_get(after, "run.coverage")) &&
            json_equal(tki_certificate_get(before, "built.compiler"), tki_certificate_get(after, "built.compiler")) &&
            member_differs(before, after, paths[i], difference))
            return true;
    return false;
}

/* What was asked for, and everything else that the trials listed came to. Times, dates, paths and what names machine and compiler do not
 * count. */
static bool figures_differ(const tk_certificate *before, const tki_rerun *again, char **difference)
{
    const tk_certificate *after = again->certificate;
    for (const tki_member *m = tki_members; m->name; m++) {
        char path[TKI_MEMBER_PATH];
        tki_member_path(m, path);
        if (m->how & TKI_REPLAYED && !(again->other_file && !strcmp(path, "run.subject")) &&
            member_differs(before, after, path, difference))
            return true;
    }
    /* Where nothing could be run, the reason is the machine's. */
    bool ran = json_array_size(tki_certificate_get(after, "run.trials")) > 0;
    return (ran && member_differs(before, after, "reason", difference)) ||
           mutants_differ(before, after, difference) || coverage_differs(before, after, difference);
}

bool tki_rerun_same(const tk_ctx *ctx, const tk_certificate *before, const tki_rerun *again, char **difference)
{
    const tk_certificate *after = again->certificate;
    const json_t *old_trials = tki_certificate_get(before, "run.trials");
    const json_t *new_trials = tki_certificate_get(after, "run.trials");
    size_t count = json_array_size(old_trials);
    for (size_t i = 0; i < count && i < json_array_size(new_trials); i++) {
        const json_t *a = json_array_get(old_trials, i);
        const json_t *b = json_array_get(new_trials, i);
        if (json_equal(a, b))
            continue;
        bool same_bits = json_equal(json_object_get(a, "output_sha256"), json_object_get(b, "output_sha256"));
        char *name = tki_trial_name(b);
        *difference = tki_difference("trial %zu, %s, %s", i, name ? name : "",
                                     same_bits ? "has another number of elements" : "gives different output bits");
        free(name);
        return false;
    }
    if (again->failed) {
        const tk_certificate *failing = again->beyond ? again->beyond : after;
        *difference = tki_difference("trial %s, which the certificate does not list, is %s: %s", again->failed,
                                     tk_certificate_verdict(failing) == TK_REFUTED ? "refuted" : "not decided",
                                     tk_certificate_reason(failing));
        return false;
    }
    const char *old_verdict = tki_certificate_text(before, "verdict");
    const bool proved = again->beyond && tk_certificate_verdict(again->beyond) == TK_PROVED;
    const char *new_verdict = proved ? tk_verdict_name(TK_PROVED) : tki_certificate_text(after, "verdict");
    if (strcmp(old_verdict, new_verdict) != 0) {
        *difference = tki_difference("the verdict is now %s; it was %s", new_verdict, old_verdict);
        return false;
    }
    if (json_array_size(new_trials) < count) {
        *difference = tki_difference("%zu trials ran, the certificate lists %zu", json_array_size(new_trials), count);
        return false;
    }
    if (figures_differ(before, again, difference))
        return false;
    char what[600];
    if (tki_certificate_contradicts(ctx, before, what, sizeof what)) {
        *difference = tki_difference("the certificate contradicts itself: %s", what);
        return false;
    }
    return true;
}
