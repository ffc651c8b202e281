/* TRUSTED. Every trial's inputs are made once and given to all mutants that are not rejected yet, each in a process state of its own: a mutant
 * may remember what it was asked before. */
#include "trials/mutants.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "judge/trial.h"
#include "trials/cases.h"
#include "trials/oracles_and_mutants.h"

typedef struct records {
    tki_mutant_record *list;
    int count;
} records;

typedef struct planted {
    tki_subject subject;
    tki_mutant_run run;
} planted;

static tk_status run_on(planted *p, const tki_trial *trial, const tki_inputs *inputs, tki_mutant_record *record)
{
    tki_trial_result r;
    tk_status status = tki_trial_run(&p->subject, trial, inputs, &r);
    if (status == TK_OK && r.failed_clause >= 0) {
        record->rejected = true;
        record->clause = r.failed_clause;
        snprintf(record->reason, sizeof record->reason, "%s", r.reason);
    }
    return status;
}

static tk_status run_trials(tk_ctx *ctx, const tki_trials *trials, planted *all, records *made, tk_progress progress,
                            void *progress_data)
{
    int left = made->count;
    tk_status status = TK_OK;
    for (int64_t i = 0; i < trials->count && left && status == TK_OK; i++) {
        tki_inputs inputs;
        if (progress)
            progress((double)i / (double)trials->count, "planted wrong kernels", progress_data);
        status = tki_inputs_alloc(ctx, &trials->list[i].c, &inputs);
        if (status != TK_OK)
            break;
        tki_trial_fill(&trials->list[i], inputs.data);
        for (int k = 0; k < made->count && status == TK_OK; k++) {
            if (made->list[k].rejected)
                continue;
            status = run_on(&all[k], &trials->list[i], &inputs, &made->list[k]);
            left -= made->list[k].rejected;
        }
        tki_inputs_free(&inputs);
    }
    return status;
}

static tk_status make(tk_ctx *ctx, const tk_contract *contract, tk_types types, tk_dtype index_dtype, uint64_t seed,
                      tk_progress progress, void *progress_data, records *made)
{
    const tk_certify_options quick = {.level = TK_QUICK, .seed = seed, .result_dtype = &types.result_dtype};
    const tki_mutant *list = tki_mutants_of(contract);
    const tki_oracle *oracle = tki_oracle_of(contract);
    void *tables = NULL;
    tki_trials trials;
    int listed = 0;
    *made = (records){0};
    while (list[listed].name)
        listed++;
    tk_status status = oracle->open ? oracle->open(types.dtype, &tables) : TK_OK;
    if (status != TK_OK)
        return tki_fail(ctx, status, "the oracle's tables: %s", tk_status_text(status));
    status = tki_trials_make(ctx, contract, types.dtype, index_dtype, &quick, &trials);
    if (status != TK_OK)
        return status;
    made->list = calloc((size_t)listed + 1, sizeof *made->list);
    planted *all = calloc((size_t)listed + 1, sizeof *all);
    if (!made->list || !all)
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for the planted wrong kernels");
    for (int i = 0; i < listed && status == TK_OK; i++) {
        if (!tki_mutant_is_wrong(&list[i], TK_QUICK, types))
            continue;
        planted *p = &all[made->count];
        p->subject = (tki_subject){.ctx = ctx, .contract = contract, .oracle = oracle, .tables = tables};
        p->run.how = list[i].how;
        status = tki_executor_open(ctx, &(tki_executable){.kernel = list[i].kernel, .kernel_data = &p->run},
                                   &p->subject.executor);
        if (status == TK_OK)
            made->list[made->count++].mutant = &list[i];
    }
    /* What is kept for others must not depend on the time that is left to this certificate. */
    const double deadline = ctx->deadline;
    ctx->deadline = 0;
    if (status == TK_OK)
        status = run_trials(ctx, &trials, all, made, progress, progress_data);
    ctx->deadline = deadline;
    for (int i = 0; i < made->count; i++) {
        tki_executor_close(&all[i].subject.executor);
        free(all[i].run.kept);
    }
    free(all);
    free(trials.list);
    if (status != TK_OK) {
        free(made->list);
        *made = (records){0};
    }
    return status;
}

/* -- Once in a process ------------------------------------------------------------------------------------- */

typedef struct entry {
    const tk_contract *contract;
    tk_types types;
    tk_dtype index_dtype;
    uint64_t seed;
    pthread_mutex_t making; /* whoever wants the same waits for it */
    records made;           /* list is NULL: not yet */
} entry;

/* Bounds what a process keeps that judges with ever new seeds; beyond it records are made anew each time. */
enum { MOST_KEPT = 64 };

static struct {
    pthread_mutex_t lock;
    entry entries[MOST_KEPT];
    int count;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static entry *entry_of(const tk_contract *contract, tk_types types, tk_dtype index_dtype, uint64_t seed)
{
    entry *found = NULL;
    pthread_mutex_lock(&kept.lock);
    for (int i = 0; i < kept.count && !found; i++) {
        entry *e = &kept.entries[i];
        if (e->contract == contract && e->types.dtype == types.dtype && e->types.result_dtype == types.result_dtype &&
            e->index_dtype == index_dtype && e->seed == seed)
            found = e;
    }
    if (!found && kept.count < MOST_KEPT) {
        found = &kept.entries[kept.count++];
        *found = (entry){.contract = contract,
                         .types = types,
                         .index_dtype = index_dtype,
                         .seed = seed,
                         .making = PTHREAD_MUTEX_INITIALIZER};
    }
    pthread_mutex_unlock(&kept.lock);
    return found;
}

tk_status tki_mutants_judge(tk_ctx *ctx, const tk_contract *contract, tk_types types, tk_dtype index_dtype,
                            uint64_t seed, tk_progress progress, void *progress_data, tki_mutant_record **list,
                            int *count)
{
    entry *e = entry_of(contract, types, index_dtype, seed);
    records made = {0};
    tk_status status = TK_OK;
    *list = NULL;
    *count = 0;
    if (!e) {
        status = make(ctx, contract, types, index_dtype, seed, progress, progress_data, &made);
        *list = made.list;
        *count = made.count;
        return status;
    }
    pthread_mutex_lock(&e->making);
    if (!e->made.list)
        status = make(ctx, contract, types, index_dtype, seed, progress, progress_data, &e->made);
    if (status == TK_OK) {
        size_t bytes = ((size_t)e->made.count + 1) * sizeof **list;
        *list = malloc(bytes);
        if (*list)
            memcpy(*list, e->made.list, bytes);
        *count = *list ? e->made.count : 0;
    }
    pthread_mutex_unlock(&e->making);
    if (status == TK_OK && !*list)
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for the planted wrong kernels");
    return status;
}
