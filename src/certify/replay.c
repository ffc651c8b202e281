/* RECORDS. Replay: a certificate's own fields say what to run; the output hashes say whether it came out the same.
 * What this version makes for those fields is all run, so that a trial left out of a certificate's list is seen to
 * fail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/certify.h"
#include "certify/consistency.h"
#include "certify/outcome.h"
#include "certify/planned_trials.h"
#include "certify/replay_compare.h"
#include "certify/replay_recipe.h"
#include "core/context.h"
#include "core/limits.h"
#include "core/sized_options.h"
#include "judge/guard.h"
#include "judge/trial_memory.h"
#include "model/case.h"
#include "trials/explorer.h"
#include "trials/families.h"

/* 0: as long as it takes, for what is no kernel file. */
static double total_seconds(const tk_certificate *certificate, const tk_replay_options *asked)
{
    const double recorded = tki_certificate_real(certificate, "run.limits.total_seconds");
    const bool kernel = tki_certificate_is_of_file(certificate);
    const double most = asked->total_seconds > 0 ? asked->total_seconds : kernel ? TKI_TOTAL_SECONDS : 0;
    return recorded > 0 && recorded < most ? recorded : most;
}

/* A trial that stands in no list but was found by coverage says all that it is made of, but for what holds for the
 * whole run: `like` has that. False if it does not. */
static bool read_found(const tki_trial *like, const json_t *json, tki_trial *trial)
{
    const tk_contract *contract = like->c.contract;
    const json_t *options = json_object_get(json, "options");
    const json_t *planted = json_object_get(json, "planted");
    const char *family = json_string_value(json_object_get(json, "family"));
    const json_int_t threads = json_integer_value(json_object_get(json, "threads"));
    const json_int_t alignment = json_integer_value(json_object_get(json, "alignment"));
    *trial = (tki_trial){.c = like->c,
                         .family = family ? tki_family_find(family) : -1,
                         .seed = (uint64_t)json_integer_value(json_object_get(json, "seed")),
                         .found = true};
    for (int d = 0; d < contract->dim_count; d++)
        trial->c.dims[d] = json_integer_value(
            json_object_get(json_object_get(json, "shape"), contract->dim_names[d]));
    for (int i = 0; i < contract->attribute_count; i++)
        if (contract->attributes[i].seen_by_kernel)
            trial->c.attributes[i] = tki_recipe_value(&contract->attributes[i],
                                                      json_object_get(options, contract->attributes[i].name));
    trial->sampled = tki_explorer_samples(&trial->c);
    trial->planted_count = (int)json_array_size(planted);
    if (!json_object_get(json, "found_by") || trial->family < 0 || json_array_size(planted) > TK_MAX_PLANTED ||
        threads < 0 || threads > TKI_MOST_THREADS || alignment < 0 || alignment > TKI_MOST_ALIGNMENT ||
        (alignment & (alignment - 1)))
        return false;
    for (int i = 0; i < trial->planted_count; i++)
        trial->planted[i] = json_integer_value(json_array_get(planted, (size_t)i));
    trial->threads = (int)threads;
    trial->alignment = (int)alignment;
    return true;
}

/* Copies the listed trials to `chosen`, in the certificate's order. `chosen` has place for the whole plan and the
 * whole list, `taken` says what of the plan was copied. False if one of them is not there; *difference says which. */
static bool choose_listed(tk_ctx *ctx, const json_t *listed, const tki_trials *plan, const json_t *places,
                          bool *taken, tki_trials *chosen, char **difference)
{
    enum { MOST_FOUND = 4 * TKI_FOUND_MORE }; /* each may come with others like it */
    int found_count = 0;
    for (size_t i = 0; i < json_array_size(listed); i++) {
        tki_trial found;
        if (found_count < MOST_FOUND && read_found(&plan->list[0], json_array_get(listed, i), &found) &&
            tki_case_check_shape(ctx, &found.c) == TK_OK) {
            chosen->list[chosen->count++] = found;
            found_count++;
            continue;
        }
        char *name = tki_trial_name(json_array_get(listed, i));
        const json_t *place = name ? json_object_get(places, name) : NULL;
        int64_t p = place ? json_integer_value(place) : 0;
        if (!place || taken[p]) {
            *difference = tki_difference("trial %zu, %s, %s", i, name ? name : "",
                                         place ? "is in the certificate twice" : "is not a trial of this version");
            free(name);
            return false;
        }
        free(name);
        do {
            taken[p] = true;
            chosen->list[chosen->count++] = plan->list[p++];
        } while (p < plan->count && tki_of_one_domain(&plan->list[p - 1], &plan->list[p]));
    }
    return true;
}

/* Of a run that did not end with its first failure all trials are listed but those that crashed, and the reason is
 * that of the first which failed: they have to come in their own order again. */
static bool keeps_order(const tk_certificate *certificate)
{
    return !tki_certificate_holds(certificate) && tki_certificate_of_this_version(certificate) &&
           json_is_true(tki_certificate_get(certificate, "run.keep_going"));
}

/* The whole plan, and behind it what coverage found. `chosen` has place for both. */
static void put_in_order(const tki_trials *plan, tki_trials *chosen)
{
    int64_t found = 0;
    for (int64_t i = 0; i < chosen->count; i++)
        if (chosen->list[i].found)
            chosen->list[found++] = chosen->list[i];
    memmove(chosen->list + plan->count, chosen->list, (size_t)found * sizeof *chosen->list);
    memcpy(chosen->list, plan->list, (size_t)plan->count * sizeof *chosen->list);
    chosen->count = plan->count + found;
}

/* The trials of the plan: first the *listed ones that the certificate lists, then the others. None are chosen if one
 * of those is missing; *difference says which, memory permitting. */
static tk_status choose(tk_ctx *ctx, const tk_certificate *certificate, const tki_trials *plan, tki_trials *chosen,
                        int64_t *listed, char **difference)
{
    const json_t *list = tki_certificate_get(certificate, "run.trials");
    json_t *places = tki_trial_places(plan, NULL);
    bool *taken = calloc((size_t)plan->count, sizeof *taken);
    *chosen = (tki_trials){.list = calloc((size_t)plan->count + json_array_size(list), sizeof *chosen->list)};
    bool good = places && taken && chosen->list;
    if (good && !choose_listed(ctx, list, plan, places, taken, chosen, difference)) {
        chosen->count = 0;
    } else if (good && keeps_order(certificate)) {
        put_in_order(plan, chosen);
    } else if (good && chosen->count == 0 && tki_certificate_holds(certificate)) {
        *difference = tki_difference("the certificate lists 0 trials");
    } else if (good) {
        *listed = chosen->count;
        for (int64_t i = 0; i < plan->count; i++)
            if (!taken[i])
                chosen->list[chosen->count++] = plan->list[i];
    }
    json_decref(places);
    free(taken);
    return good ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory for the certificate's trials");
}

/* Those of a level's own that are not for every machine are left out where memory is short; others are the
 * certificate's word. */
static tk_status check_sizes(tk_ctx *ctx, const tki_trials *trials, const tk_replay_options *asked, bool kernel_file)
{
    const double most = asked->memory_gib > 0 ? asked->memory_gib : tki_free_gib() / 2;
    for (int64_t i = 0; i < trials->count; i++) {
        const double needed = tki_case_gib(&trials->list[i].c, kernel_file);
        if (!trials->list[i].where_memory_allows && needed > most)
            return tki_fail(
                ctx, TK_UNAVAILABLE,
                "a trial of the certificate needs %.1f GiB of memory, the limit is %.1f; --trial-memory raises it",
                needed, most);
    }
    return TK_OK;
}

/* Part of a list. */
static tki_trials part_of(const tki_trials *trials, int64_t first, int64_t count)
{
    return (tki_trials){.list = trials->list + first, .count = count};
}

static bool name_failed(const tki_trial *trial, tki_rerun *again)
{
    json_t *json = tki_trial_json(trial);
    again->failed = tki_trial_name(json);
    json_decref(json);
    return again->failed != NULL;
}

static size_t trial_count(const tk_certificate *certificate)
{
    return certificate ? json_array_size(tki_certificate_get(certificate, "run.trials")) : 0;
}

/* A certificate of one that held is of the trials that it lists: these first, so that all of its figures can be
 * compared, and then the others, which must hold. */
static tk_status run_complete(tk_ctx *ctx, const tk_certificate *certificate, const tki_recipe *r,
                              const tki_trials *chosen, int64_t listed, tki_rerun *again, int64_t *not_listed)
{
    tki_trials first = part_of(chosen, 0, listed), rest = part_of(chosen, listed, chosen->count - listed);
    tk_certify_options options = r->options;
    int64_t held = 0;
    tk_status status = tki_certify_trials(ctx, r->contract, r->dtype, r->index_dtype, &options, &r->mutants_seed,
                                          &first, &held, &again->certificate);
    /* Coverage has found more than is listed: that held, too, and the figures are those without it. */
    const size_t recorded = trial_count(certificate);
    if (status == TK_OK && tki_certificate_holds(again->certificate) && trial_count(again->certificate) > recorded) {
        *not_listed += (int64_t)(trial_count(again->certificate) - recorded);
        tk_certificate_destroy(again->certificate);
        again->certificate = NULL;
        options.skip_coverage = true;
        status = tki_certify_trials(ctx, r->contract, r->dtype, r->index_dtype, &options, &r->mutants_seed, &first,
                                    &held, &again->certificate);
    }
    /* Where something else than a listed trial failed, that may be one of the others, which coverage came to first. */
    if (status != TK_OK || held < listed || !rest.count)
        return status;
    options = r->options;
    options.skip_mutants = true;
    held = 0;
    status = tki_certify_trials(ctx, r->contract, r->dtype, r->index_dtype, &options, NULL, &rest, &held,
                                &again->beyond);
    if (status != TK_OK)
        return status;
    *not_listed += (int64_t)trial_count(again->beyond);
    tk_verdict verdict = tk_certificate_verdict(again->beyond);
    bool good = held == rest.count && (verdict == TK_HELD || verdict == TK_PROVED ||
                                       (verdict == TK_UNKNOWN && !tk_certificate_elements(again->beyond)));
    if (!good && !name_failed(&rest.list[held < rest.count ? held : rest.count - 1], again))
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a trial's name");
    return TK_OK;
}

/* Certifies again. If there is nothing to run, *difference says why. */
static tk_status run_recipe(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *asked,
                            const tki_recipe *r, tki_rerun *again, int64_t *not_listed, char **difference)
{
    tki_trials plan = {0};
    tki_trials chosen = {0};
    int64_t listed = 0;
    tk_status status = tki_certify_trials_make(ctx, r->contract, r->dtype, r->index_dtype, &r->options, &plan);
    if (status == TK_OK)
        status = choose(ctx, certificate, &plan, &chosen, &listed, difference);
    if (status == TK_OK)
        status = check_sizes(ctx, &chosen, asked, r->kernel_file != NULL);
    if (status == TK_OK && chosen.count > 0)
        /* Beyond the list of a certificate that stopped at a failure lies that very failure, if it was a crash: no
         * list has those. */
        status = tki_certificate_holds(certificate) && listed
                     ? run_complete(ctx, certificate, r, &chosen, listed, again, not_listed)
                     : tki_certify_trials(ctx, r->contract, r->dtype, r->index_dtype, &r->options, &r->mutants_seed,
                                          &chosen, NULL, &again->certificate);
    free(plan.list);
    free(chosen.list);
    /* A lowering or planted kernel that this build does not have. */
    return status == TK_BAD_ARGUMENT ? TK_UNAVAILABLE : status;
}

/* Theorems that it cites and this version has otherwise, or not at all: the first by name. */
static void name_stale(const tk_certificate *certificate, char *stale, size_t size)
{
    tk_citation citation, first = {0};
    int count = 0;
    for (int i = 0; tk_certificate_cites(certificate, i, &citation); i++)
        if (strcmp(citation.state, "same") != 0 && !count++)
            first = citation;
    if (count)
        snprintf(stale, size, "cites %d theorem%s that this version changed or does not have: %.60s %.60s%s", count,
                 count > 1 ? "s" : "", first.file, first.theorem, count > 1 ? " and others" : "");
}

tk_status tk_certificate_remarks(tk_ctx *ctx, const tk_certificate *certificate, char **remarks)
{
    tki_planned planned;
    char what[300], lists[120] = "", stale[300] = "";
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!certificate || !remarks)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no certificate, or no pointer for the answer");
    *remarks = NULL;
    const bool current = tki_certificate_is_current(certificate);
    const char *contract = tki_certificate_has_other_contract(ctx, certificate, what, sizeof what)
                               ? "of another contract"
                               : "";
    if (tki_certificate_holds(certificate) && tki_planned_trials(ctx, certificate, &planned) == TK_OK &&
        planned.listed < planned.made)
        snprintf(lists, sizeof lists, "lists %lld of the %lld trials that this version makes for it",
                 (long long)planned.listed, (long long)planned.made);
    name_stale(certificate, stale, sizeof stale);
    const char *sentences = current && !tki_certificate_has_sentences(ctx, certificate)
                                ? "with sentences that this version cannot reproduce"
                                : "";
    const char *const all[] = {
        current ? "" : "of an earlier predicate version, whose sentences, reason and trials are not verified",
        contract, lists, stale, sentences};
    char text[600] = "";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used && all[i][0] ? ", " : "", all[i]);
    }
    if (!text[0])
        return TK_OK;
    *remarks = strdup(text);
    return *remarks ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory for a remark");
}

/* Is it for want of time that nothing was decided? */
static bool ends_early(const tk_ctx *ctx, const tki_rerun *again)
{
    const tk_certificate *last = again->beyond ? again->beyond : again->certificate;
    return last && tk_certificate_verdict(last) == TK_UNKNOWN && tki_ctx_out_of_time(ctx);
}

static tk_status refuse_what_no_command_runs(tk_ctx *ctx, const tk_certificate *certificate)
{
    const char *kind = tki_certificate_text(certificate, "run.kind");
    if (!strcmp(kind, "function"))
        return tki_fail(ctx, TK_UNAVAILABLE,
                        "the certificate is of a function of a program; only that program can run it again");
    if (!strcmp(kind, "given"))
        return tki_fail(
            ctx, TK_UNAVAILABLE,
            "the certificate is of given outputs, not of a kernel; 'tokitai judge' judges such outputs again");
    return TK_OK;
}

tk_status tk_certificate_replay(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *given,
                                bool *same, int64_t *not_listed, char **difference)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!certificate || !same)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no certificate, or no pointer for the answer");
    *same = false;
    if (not_listed)
        *not_listed = 0;
    if (difference)
        *difference = NULL;
    tk_replay_options options = TK_REPLAY_DEFAULTS;
    tk_status status = tki_options_take(ctx, "tk_replay_options", given, &options, sizeof options);
    if (status != TK_OK)
        return status;
    tki_recipe r = {0};
    tki_rerun again = {.other_file = options.kernel != NULL};
    char *text = NULL;
    int64_t more = 0;
    const double total = total_seconds(certificate, &options), kept = ctx->deadline;
    status = tki_limits_check(ctx, &options.limits);
    if (status != TK_OK)
        return status;
    if (total > 0)
        ctx->deadline = tki_ctx_deadline(ctx, total);
    status = refuse_what_no_command_runs(ctx, certificate);
    if (status == TK_OK)
        status = tki_recipe_read(ctx, certificate, &r);
    r.options.total_seconds = total;
    if (status == TK_OK && tki_certificate_is_of_file(certificate))
        status = tki_recipe_open_kernel_file(ctx, certificate, &options, &r);
    r.options.progress = options.progress;
    r.options.progress_data = options.progress_data;
    if (status == TK_OK)
        status = run_recipe(ctx, certificate, &options, &r, &again, &more, &text);
    tki_recipe_free(&r);
    if (status == TK_OK && ends_early(ctx, &again))
        status = tki_fail(ctx, TK_TIMEOUT, "total time limit of %g seconds reached; --total-timeout raises it",
                          total);
    ctx->deadline = kept;
    if (status == TK_OK && again.certificate)
        *same = tki_rerun_same(ctx, certificate, &again, &text);
    if (*same && not_listed)
        *not_listed = more;
    tk_certificate_destroy(again.certificate);
    tk_certificate_destroy(again.beyond);
    free(again.failed);
    if (status == TK_OK && difference)
        *difference = text;
    else
        free(text);
    return status;
}
