/* SHOWS. The corpus: every planted kernel of an op before the judge and before the usual check. Kernels run side by side, one
 * thread each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/sized_options.h"
#include "judge/trial.h"
#include "model/case.h"
#include "runtime/kernel_runner.h"
#include "trials/allclose_check.h"
#include "trials/levels.h"
#include "trials/op_registry.h"

/* What all kernels of one op and dtype share. */
typedef struct bench {
    const tk_contract *contract;
    const tki_oracle *oracle;
    void *tables;
    tki_trials trials;
    tki_usual *usual;
} bench;

/* Runs the trials until one fails. */
static tk_status judge(const bench *b, tk_ctx *ctx, const tki_mutant *planted, tk_corpus_entry *entry)
{
    tki_runner runner;
    tki_subject subject = {
        .ctx = ctx, .contract = b->contract, .oracle = b->oracle, .tables = b->tables, .caller = &runner.caller};
    tki_mutant_run run = {.how = planted->how};
    tki_runnable executable = {.kernel = planted->kernel, .kernel_data = &run};
    tk_status status = tki_runner_open(ctx, &executable, &runner);
    entry->verdict = TK_HELD;
    for (int64_t i = 0; i < b->trials.count && status == TK_OK && entry->verdict == TK_HELD; i++) {
        tki_inputs inputs;
        tki_trial_result result;
        char reason[512];
        if (b->trials.list[i].where_memory_allows)
            continue; /* many kernels run side by side */
        status = tki_inputs_alloc(ctx, &b->trials.list[i].c, &inputs);
        if (status != TK_OK)
            break;
        tki_trial_fill(&b->trials.list[i], inputs.data);
        status = tki_trial_run(&subject, &b->trials.list[i], &inputs, &result);
        tki_inputs_free(&inputs);
        if (status != TK_OK)
            break;
        entry->elements += result.judgement.elements;
        tki_trial_reason(&result, &b->trials.list[i].c, reason, sizeof reason);
        if (result.failed_clause >= 0) {
            entry->verdict = TK_REFUTED;
            snprintf(entry->reason, sizeof entry->reason, "%s: %s", b->contract->clauses[result.failed_clause].id,
                     reason);
        } else if (result.could_not_run || result.judgement.undefined > 0) {
            entry->verdict = TK_UNKNOWN;
            snprintf(entry->reason, sizeof entry->reason, "%s",
                     result.could_not_run ? reason : "the contract gives no bound for some elements");
        }
    }
    tki_runner_close(&runner);
    free(run.kept);
    return status;
}

static tk_status run_entry(const bench *b, const tki_mutant *planted, tk_corpus_entry *entry)
{
    tk_ctx *ctx = NULL;
    tk_status status = tk_ctx_create(&ctx);
    if (status == TK_OK)
        status = tk_ctx_set_threads(ctx, 1);
    if (status == TK_OK)
        status = judge(b, ctx, planted, entry);
    tki_mutant_run run = {.how = planted->how};
    if (status == TK_OK)
        status = tki_usual_run(b->usual, planted->kernel, &run, entry->usual);
    free(run.kept);
    tk_ctx_destroy(ctx);
    return status;
}

/* The mutants that this level's trials are to reject, then the variants. */
static int list_planted(const tk_contract *contract, tk_level level, tk_types types, const tki_mutant **list)
{
    int count = 0;
    for (const tki_mutant *m = tki_mutants_of(contract); m->name; m++) {
        if (!tki_mutant_is_wrong(m, level, types))
            continue;
        if (list)
            list[count] = m;
        count++;
    }
    for (const tki_variant *v = tki_variants_of(contract); v->name; v++) {
        if (list)
            list[count] = v;
        count++;
    }
    return count;
}

static tk_status open_bench(tk_ctx *ctx, tk_dtype dtype, const tk_certify_options *options, bench *b)
{
    tk_case usual = tk_usual_case(b->contract, dtype);
    usual.result_dtype = tki_result_dtype(dtype, options);
    tk_status status = tki_case_check_shape(ctx, &usual);
    if (status == TK_OK)
        status = tki_trials_make(ctx, b->contract, dtype, TK_I32, options, &b->trials);
    if (status == TK_OK)
        status = tki_oracle_open(ctx, b->contract, dtype, &b->oracle, &b->tables);
    if (status == TK_OK)
        status = tki_usual_make(ctx, b->oracle, b->tables, usual, options->seed, &b->usual);
    return status;
}

static void close_bench(bench *b)
{
    tki_usual_free(b->usual);
    free(b->trials.list);
}

static tk_status run_all(tk_ctx *ctx, const bench *b, const tk_certify_options *options,
                         const tki_mutant *const *list, tk_corpus_entry *entries, int count)
{
    tk_status status = TK_OK;
    int done = 0;
    /* Variants take longest, since nothing ends their trials early: they stand last and go first. */
#pragma omp parallel for schedule(dynamic, 1) num_threads(tki_ctx_threads(ctx))
    for (int i = count - 1; i >= 0; i--) {
        tk_status one = run_entry(b, list[i], &entries[i]);
#pragma omp critical(tki_corpus_merge)
        {
            done++;
            status = one != TK_OK ? one : status;
            if (options->progress)
                options->progress((double)done / count, list[i]->name, options->progress_data);
        }
    }
    return status == TK_OK ? TK_OK
                           : tki_fail(ctx, status, "the corpus of %s: %s", b->contract->name, tk_status_text(status));
}

tk_status tk_corpus_run(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, const tk_certify_options *given,
                        tk_corpus_entry **entries, int *count)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!contract || !entries || !count)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no contract, or no pointer for the entries");
    tk_certify_options options = TK_CERTIFY_DEFAULTS, taken = options;
    tk_status status = tki_options_take(ctx, "tk_certify_options", given, &taken, sizeof taken);
    if (status != TK_OK)
        return status;
    options.level = taken.level;
    options.seed = taken.seed;
    options.result_dtype = taken.result_dtype;
    options.progress = taken.progress;
    options.progress_data = taken.progress_data;
    if ((unsigned)options.level > TK_FULL)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the corpus runs at level quick or full");
    bench b = {.contract = contract};
    const tk_types types = {dtype, tki_result_dtype(dtype, &options)};
    *count = list_planted(contract, options.level, types, NULL);
    *entries = calloc((size_t)*count + 1, sizeof **entries);
    const tki_mutant **list = calloc((size_t)*count + 1, sizeof *list);
    status = *entries && list ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory for the corpus");
    if (status == TK_OK) {
        list_planted(contract, options.level, types, list);
        for (int i = 0; i < *count; i++)
            (*entries)[i] = (tk_corpus_entry){.name = list[i]->name,
                                              .what = list[i]->what,
                                              .wrong = tki_mutant_find(contract, list[i]->name) == list[i]};
        status = open_bench(ctx, dtype, &options, &b);
    }
    if (status == TK_OK)
        status = run_all(ctx, &b, &options, list, *entries, *count);
    close_bench(&b);
    free(list);
    if (status != TK_OK) {
        free(*entries);
        *entries = NULL;
        *count = 0;
    }
    return status;
}
