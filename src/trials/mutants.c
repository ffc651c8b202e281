/* CHOOSES. Every trial's inputs are made once and given to all mutants that are not rejected yet, each in a process state of its own: a mutant
 * may remember what it was asked before. */
#include "trials/mutants.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/context.h"
#include "judge/trial.h"
#include "runtime/kernel_runner.h"
#include "trials/judge_build.h"
#include "trials/levels.h"
#include "trials/op_registry.h"

typedef struct records {
    tki_mutant_record *list;
    int count;
} records;

typedef struct planted {
    tki_subject subject;
    tki_runner runner;
    tki_mutant_run run;
} planted;

static tk_status run_on(planted *p, const tki_trial *trial, const tki_inputs *inputs, tki_mutant_record *record)
{
    tki_trial_result r;
    tk_status status = tki_trial_run(&p->subject, trial, inputs, &r);
    if (status == TK_OK && r.failed_clause >= 0) {
        record->rejected = true;
        record->clause = r.failed_clause;
        tki_trial_reason(&r, &trial->c, record->reason, sizeof record->reason);
    }
    if (status == TK_OK && r.could_not_run && tki_ctx_out_of_time(p->subject.ctx))
        return tki_ctx_fail_late(p->subject.ctx);
    record->could_not_run |= status == TK_OK && r.could_not_run;
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
            progress((double)i / (double)trials->count, "mutants", progress_data);
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
    const tki_oracle *oracle;
    void *tables;
    tki_trials trials;
    int listed = 0;
    *made = (records){0};
    while (list[listed].name)
        listed++;
    tk_status status = tki_oracle_open(ctx, contract, types.dtype, &oracle, &tables);
    if (status != TK_OK)
        return status;
    status = tki_trials_make(ctx, contract, types.dtype, index_dtype, &quick, &trials);
    if (status != TK_OK)
        return status;
    made->list = calloc((size_t)listed + 1, sizeof *made->list);
    planted *all = calloc((size_t)listed + 1, sizeof *all);
    if (!made->list || !all)
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for the mutants");
    for (int i = 0; i < listed && status == TK_OK; i++) {
        if (!tki_mutant_is_wrong(&list[i], TK_QUICK, types))
            continue;
        planted *p = &all[made->count];
        p->subject = (tki_subject){
            .ctx = ctx, .contract = contract, .oracle = oracle, .tables = tables, .caller = &p->runner.caller};
        p->run.how = list[i].how;
        status = tki_runner_open(ctx, &(tki_runnable){.kernel = list[i].kernel, .kernel_data = &p->run}, &p->runner);
        if (status == TK_OK)
            made->list[made->count++].mutant = &list[i];
    }
    if (status == TK_OK)
        status = run_trials(ctx, &trials, all, made, progress, progress_data);
    for (int i = 0; i < made->count; i++) {
        tki_runner_close(&all[i].runner);
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

/* -- Kept for other processes --------------------------------------------------------------------------------- */

/* What this build on this machine is asked for: all but the verdicts. False if it cannot be told, and nothing can be kept. */
static bool describe(const tk_contract *contract, tk_types types, tk_dtype index_dtype, tki_kept_mutants *kept)
{
    *kept = (tki_kept_mutants){0};
    const bool known = tki_judge_build(kept->build) && tki_judge_machine(kept->machine);
    const int length = snprintf(kept->op, sizeof kept->op, "%s", contract->name);
    tk_types_name(types, kept->types, sizeof kept->types);
    if (tk_contract_takes_index(contract))
        snprintf(kept->index, sizeof kept->index, "%s", tk_dtype_name(index_dtype));
    return tki_mutants_seed(kept->build, kept->op, kept->types, kept->index, &kept->seed) && known &&
           tki_kept_key(kept, kept->key) && (size_t)length < sizeof kept->op;
}

static int clause_named(const tk_contract *contract, const char *id)
{
    for (int i = 0; i < contract->clause_count; i++)
        if (!strcmp(contract->clauses[i].id, id))
            return i;
    return -1;
}

/* The verdicts of a file on exactly the mutants that there are. */
static bool take_kept(const tk_contract *contract, tk_types types, const tki_kept_mutants *kept, tki_mutants *made)
{
    int count = 0;
    tki_mutant_record *list = calloc((size_t)kept->count + 1, sizeof *list);
    bool good = list != NULL;
    for (const tki_mutant *m = tki_mutants_of(contract); good && m->name; m++) {
        if (!tki_mutant_is_wrong(m, TK_QUICK, types))
            continue;
        const tki_kept_mutant *found = count < kept->count ? &kept->list[count] : NULL;
        good = found && !strcmp(found->name, m->name);
        if (!good)
            break;
        tki_mutant_record *record = &list[count++];
        *record = (tki_mutant_record){.mutant = m, .rejected = found->rejected};
        record->clause = found->rejected ? clause_named(contract, found->clause) : 0;
        good = record->clause >= 0;
        snprintf(record->reason, sizeof record->reason, "%s", found->reason);
    }
    if (!good || count != kept->count) {
        free(list);
        return false;
    }
    *made = (tki_mutants){.list = list, .count = count, .seed = kept->seed};
    memcpy(made->build, kept->build, sizeof made->build);
    memcpy(made->kept, kept->date, sizeof made->kept);
    return true;
}

static bool load(tk_ctx *ctx, const tk_contract *contract, tk_types types, tki_kept_mutants *kept, tki_mutants *made)
{
    const bool good = tki_kept_load(ctx, kept) && take_kept(contract, types, kept, made);
    tki_kept_free(kept);
    return good;
}

/* One that could not be run may be rejected another time. */
static bool is_complete(const tki_mutants *made)
{
    for (int i = 0; i < made->count; i++)
        if (made->list[i].could_not_run)
            return false;
    return made->count > 0 && made->count <= TKI_KEPT_MOST;
}

static void save(tk_ctx *ctx, const tk_contract *contract, const tki_mutants *made, tki_kept_mutants *kept)
{
    kept->list = is_complete(made) ? calloc((size_t)made->count, sizeof *kept->list) : NULL;
    bool good = kept->list != NULL;
    for (int i = 0; i < made->count && good; i++) {
        const tki_mutant_record *record = &made->list[i];
        const char *id = record->rejected ? contract->clauses[record->clause].id : "";
        tki_kept_mutant *m = &kept->list[kept->count++];
        m->rejected = record->rejected;
        good = (size_t)snprintf(m->name, sizeof m->name, "%s", record->mutant->name) < sizeof m->name &&
               (size_t)snprintf(m->clause, sizeof m->clause, "%s", id) < sizeof m->clause;
        snprintf(m->reason, sizeof m->reason, "%s", record->reason);
    }
    tki_date_now(kept->date);
    if (good)
        tki_kept_save(ctx, kept);
    tki_kept_free(kept);
}

/* -- Once in a process ------------------------------------------------------------------------------------- */

typedef struct entry {
    struct entry *next;
    const tk_contract *contract;
    tk_types types;
    tk_dtype index_dtype;
    uint64_t seed;
    pthread_mutex_t making; /* whoever wants the same waits for it */
    tki_mutants made;       /* list is NULL: not yet */
} entry;

/* Bounds what a process keeps that is asked for ever new seeds; beyond it these are judged anew each time. */
enum { MOST_OF_OTHER_SEEDS = 64 };

static struct {
    pthread_mutex_t lock;
    entry *first;
    int of_other_seeds;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static entry *entry_of(const tk_contract *contract, tk_types types, tk_dtype index_dtype, uint64_t seed, bool own)
{
    pthread_mutex_lock(&process.lock);
    entry *e = process.first;
    while (e && !(e->contract == contract && e->types.dtype == types.dtype &&
                  e->types.result_dtype == types.result_dtype && e->index_dtype == index_dtype && e->seed == seed))
        e = e->next;
    if (!e && (own || process.of_other_seeds < MOST_OF_OTHER_SEEDS) && (e = calloc(1, sizeof *e))) {
        *e = (entry){.next = process.first,
                     .contract = contract,
                     .types = types,
                     .index_dtype = index_dtype,
                     .seed = seed,
                     .making = PTHREAD_MUTEX_INITIALIZER};
        process.first = e;
        process.of_other_seeds += !own;
    }
    pthread_mutex_unlock(&process.lock);
    return e;
}

/* What all ways of getting them need. */
typedef struct wanted {
    const tk_contract *contract;
    tk_types types;
    tk_dtype index_dtype;
    uint64_t seed;
    bool fresh, own;
    bool keeps; /* `kept` is known */
    tki_kept_mutants kept;
    tk_progress progress;
    void *progress_data;
} wanted;

static tk_status get(tk_ctx *ctx, wanted *w, tki_mutants *made)
{
    records judged;
    if (w->keeps && !w->fresh && load(ctx, w->contract, w->types, &w->kept, made))
        return TK_OK;
    tk_status status = make(ctx, w->contract, w->types, w->index_dtype, w->seed, w->progress, w->progress_data,
                            &judged);
    *made = (tki_mutants){.list = judged.list, .count = judged.count, .seed = w->seed};
    memcpy(made->build, w->kept.build, sizeof made->build);
    if (status == TK_OK && w->keeps)
        save(ctx, w->contract, made, &w->kept);
    return status;
}

/* Another certificate may have more time than this one. */
static bool lock_in_time(const tk_ctx *ctx, pthread_mutex_t *lock)
{
    struct timespec until;
    if (ctx->deadline <= 0)
        return pthread_mutex_lock(lock) == 0;
    clock_gettime(CLOCK_REALTIME, &until);
    const int64_t ns = until.tv_nsec + (int64_t)(1e9 * fmax(0, ctx->deadline - tki_now()));
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    return pthread_mutex_timedlock(lock, &until) == 0;
}

static tk_status get_once(tk_ctx *ctx, wanted *w, entry *e, tki_mutants *mutants)
{
    tk_status status = TK_OK;
    if (!lock_in_time(ctx, &e->making))
        return tki_ctx_fail_late(ctx);
    if (e->made.list && w->fresh && e->made.kept[0]) {
        free(e->made.list);
        e->made = (tki_mutants){0};
    }
    if (!e->made.list)
        status = get(ctx, w, &e->made);
    if (status == TK_OK) {
        const size_t bytes = ((size_t)e->made.count + 1) * sizeof *mutants->list;
        *mutants = e->made;
        mutants->list = malloc(bytes);
        if (mutants->list)
            memcpy(mutants->list, e->made.list, bytes);
        else
            mutants->count = 0;
    }
    pthread_mutex_unlock(&e->making);
    return status == TK_OK && !mutants->list ? tki_fail(ctx, TK_NO_MEMORY, "no memory for the mutants") : status;
}

tk_status tki_mutants_judge(tk_ctx *ctx, const tk_contract *contract, tk_types types, tk_dtype index_dtype,
                            tki_mutants_asked asked, tk_progress progress, void *progress_data, tki_mutants *mutants)
{
    wanted w = {.contract = contract,
                .types = types,
                .index_dtype = tk_contract_takes_index(contract) ? index_dtype : TK_I32,
                .fresh = asked.fresh || asked.seed,
                .own = !asked.seed,
                .progress = progress,
                .progress_data = progress_data};
    *mutants = (tki_mutants){0};
    if (!tki_mutants_of(contract)->name)
        return TK_OK;
    const bool lasts = tki_judging_of(contract)->is_of_this_build;
    w.keeps = describe(contract, types, index_dtype, &w.kept) && w.own && lasts;
    w.seed = asked.seed ? *asked.seed : w.kept.seed;
    entry *e = lasts ? entry_of(contract, types, w.index_dtype, w.seed, w.own) : NULL;
    return e ? get_once(ctx, &w, e, mutants) : get(ctx, &w, mutants);
}
