/* CHOOSES. The loop from comparisons to trials. */
#include "trials/explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "kernel_file/instrumented_build.h"
#include "kernel_file/kernel_file.h"
#include "trials/explorer.h"
#include "trials/families.h"
#include "trials/unjudged_call.h"

void tki_exploration_free(tki_exploration *exploration)
{
    tki_lines_free(&exploration->lines);
}

/* A trial for which there is no memory is one less, and not the end. */
static tk_status or_unwatched(tki_explorer *e, tk_status status)
{
    e->result->unwatched += status == TK_NO_MEMORY;
    return status == TK_NO_MEMORY ? TK_OK : status;
}

/* The calls of a judged trial, of which one is looked at if it is to be observed. */
static tk_status watch(tki_explorer *e, const tki_trial *trial, bool observed, bool lines_only)
{
    tki_inputs inputs;
    bool further;
    tk_status status = tki_inputs_make(e->ctx, trial, e->options, &inputs);
    if (status != TK_OK)
        return or_unwatched(e, status);
    if (observed)
        status = tki_explorer_observe(e, trial, &inputs, &further);
    if (status == TK_OK && !e->broken)
        status = tki_explorer_repeat_judged(e, trial, &inputs, lines_only);
    tki_inputs_free(&inputs);
    return or_unwatched(e, status);
}

/* On the real build; then what else the trial calls is watched as well. */
static tk_status judge(tki_explorer *e, const tki_trial *trial)
{
    tk_status status = e->judge(e->judge_data, trial, &e->stop);
    if (status == TK_NO_MEMORY) {
        e->stop = false;
        return or_unwatched(e, status);
    }
    e->result->found++;
    if (status != TK_OK || e->stop || e->broken)
        return status;
    status = watch(e, trial, false, false);
    (void)tki_explorer_went_further(e);
    return status;
}

/* New places are judged with plain numbers and, since a path may be wrong for few inputs only, with another family in
 * turn. */
static tk_status judge_found(tki_explorer *e, const tki_trial *trial)
{
    static const char *const others[] = {"bits", "few", "special", "finite_bits"};
    tk_status status = judge(e, trial);
    tki_trial other = *trial;
    other.family = tki_family_find(others[e->result->found / 2 % 4]);
    if (status == TK_OK && !e->stop && !trial->planted_count && other.family >= 0 &&
        tk_family_applies(other.family, e->contract))
        status = judge(e, &other);
    return status;
}

/* Tries what is in the queue, and judges what leads further. */
static tk_status run_queue(tki_explorer *e)
{
    while (e->queue_next < e->queue_count && !e->stop && !e->broken) {
        if (!e->calls_left || e->result->found + 2 > e->most_found) {
            e->result->spent = true;
            return TK_OK;
        }
        const tki_trial trial = e->queue[e->queue_next++];
        tki_inputs inputs;
        bool further = false;
        e->calls_left--;
        e->result->calls++;
        tk_status status = tki_inputs_make(e->ctx, &trial, e->options, &inputs);
        if (status == TK_OK) {
            status = tki_explorer_observe(e, &trial, &inputs, &further);
            tki_inputs_free(&inputs);
        }
        status = or_unwatched(e, status);
        /* One that breaks the instrumented build may break the real one. */
        if (status == TK_OK && (further || e->broken))
            status = judge_found(e, &trial);
        if (status != TK_OK)
            return status;
    }
    return TK_OK;
}

/* What the comparisons suggest, until they suggest nothing new. */
static tk_status follow_comparisons(tki_explorer *e)
{
    for (int before = -1; before < e->queue_count && !e->stop && !e->broken && !e->result->spent;) {
        before = e->queue_count;
        if (!tki_explorer_propose_all(e))
            return tki_fail(e->ctx, TK_NO_MEMORY, "no memory for coverage");
        if (e->queue_count == before)
            return TK_OK;
        tk_status status = run_queue(e);
        if (status != TK_OK)
            return status;
    }
    return TK_OK;
}

static tk_status explore(tki_explorer *e)
{
    if (!e->observation_count)
        return TK_OK;
    if (!tki_explorer_propose_plain(e))
        return tki_fail(e->ctx, TK_NO_MEMORY, "no memory for coverage");
    tk_status status = run_queue(e);
    if (status == TK_OK)
        status = follow_comparisons(e);
    for (int stage = -1; stage < TKI_SIZE_VARIANTS && status == TK_OK; stage++) {
        if (e->stop || e->broken || e->result->spent)
            break;
        if (stage < 0 ? !tki_explorer_propose_values(e) : !tki_explorer_propose_sizes(e, stage))
            return tki_fail(e->ctx, TK_NO_MEMORY, "no memory for coverage");
        status = run_queue(e);
        if (status == TK_OK)
            status = follow_comparisons(e);
    }
    return status;
}

/* The trials of the list again, as they were judged, and one call of each case that is small to look at. Those that are
 * not for every machine may have been left out, and the instrumented build has no time for them. What runs in calls
 * without an element is not judged by any, and leaves open what the search is to reach: they come after it, and add
 * lines. */
static tk_status watch_judged(tki_explorer *e, const tki_trials *trials, bool with_elements)
{
    enum { EVERY_CHUNK = 256 }; /* of all patterns of a large domain */
    tk_status status = TK_OK;
    for (int64_t i = 0; i < trials->count && status == TK_OK && !e->broken; i++) {
        const tki_trial *trial = &trials->list[i];
        if (trial->found || trial->family == TKI_GIVEN_INPUTS || trial->chunk % EVERY_CHUNK ||
            tki_explorer_has_elements(&trial->c) != with_elements)
            continue;
        if (trial->where_memory_allows) {
            e->result->unwatched++;
            continue;
        }
        const bool observed = with_elements && e->observation_count < TKI_MOST_LISTED &&
                              tki_explorer_work(&trial->c) <= e->most_work && !tki_explorer_knows(e, trial);
        status = watch(e, trial, observed, !with_elements);
    }
    (void)tki_explorer_went_further(e);
    return status;
}

static void conclude(tki_explorer *e, const tk_kernel_file *kernel)
{
    tki_exploration *result = e->result;
    if (e->broken)
        return;
    result->known = true;
    result->blocks = e->blocks;
    result->edges = e->edges;
    if (tki_runner_end_coverage(&e->runner) != TK_OK)
        snprintf(result->no_lines, sizeof result->no_lines, "%.400s", tk_ctx_message(e->ctx));
    else
        result->lines_known = tki_instrumented_lines(e->ctx, kernel, &e->coverage, &result->lines, result->no_lines,
                                                     sizeof result->no_lines);
}

static tk_status run(tki_explorer *e, const tk_kernel_file *kernel, const tki_trials *trials)
{
    tk_status status = tki_instrumented_start(e->ctx, kernel, e->contract, &e->coverage, &e->runner);
    if (status == TK_NO_MEMORY)
        return status;
    if (status != TK_OK) {
        tki_explorer_give_up(e, "could not be started: ");
        strncat(e->result->why, tk_ctx_message(e->ctx), sizeof e->result->why - strlen(e->result->why) - 1);
        return TK_OK;
    }
    status = watch_judged(e, trials, true);
    if (status == TK_OK && !e->broken)
        status = explore(e);
    if (status == TK_OK && !e->broken && !e->stop)
        status = watch_judged(e, trials, false);
    if (status == TK_OK)
        conclude(e, kernel);
    tki_runner_close(&e->runner);
    return status;
}

tk_status tki_explore(tk_ctx *ctx, const tk_contract *contract, const tk_certify_options *options,
                      const tki_trials *trials, int suspicion, tki_explore_judge judge_trial, void *data,
                      tki_exploration *exploration)
{
    const bool quick = options->level == TK_QUICK;
    const tk_kernel_file *kernel = options->kernel_file;
    *exploration = (tki_exploration){0};
    const char *problem = tki_instrumented_build(ctx, kernel);
    if (problem[0]) {
        snprintf(exploration->why, sizeof exploration->why, "%.500s", problem);
        return TK_OK;
    }
    tki_explorer e = {.ctx = ctx,
                      .contract = contract,
                      .options = options,
                      .dictionary = tki_kernel_file_constants(ctx, kernel),
                      .subject = {.ctx = ctx, .contract = contract, .suspicion = suspicion, .visit = tki_trial_visit},
                      .judge = judge_trial,
                      .judge_data = data,
                      .result = exploration,
                      .calls_left = quick ? 200 : 1000,
                      .large_left = quick ? 2 : 8,
                      .pairs_left = quick ? 16 : 64,
                      .most_found = quick ? TKI_FOUND_QUICK : TKI_FOUND_MORE,
                      .steps_left = quick ? 0x1p27 : 0x1p32,
                      .most_work = quick ? 0x1p19 : 0x1p21};
    e.subject.caller = &e.runner.caller;
    e.report = malloc(sizeof *e.report);
    e.observations = calloc(TKI_MOST_OBSERVATIONS, sizeof *e.observations);
    e.histories = calloc(TKI_COVERAGE_SITES + 1, sizeof *e.histories);
    tk_status status = e.report && e.observations && e.histories && tki_coverage_open(&e.coverage)
                           ? run(&e, kernel, trials)
                           : tki_fail(ctx, TK_NO_MEMORY, "no memory for coverage");
    for (int i = 0; e.histories && i < e.history_count; i++)
        free(e.histories[i].samples);
    free(e.report);
    free(e.observations);
    free(e.histories);
    free(e.queue);
    tki_coverage_close(&e.coverage);
    return status;
}
