/* DECIDES. One trial. The kernel runs twice on fresh buffers that lie at other kinds of places and hold other bytes,
 * with different numbers of threads (call_setup.h); then, where the contract allows it, in place, and on a part of the
 * batch alone. A kernel file, which may remember what it was asked before, runs once more with one input element
 * changed, or with some swapped, and is judged anew; then with the first inputs again. */
#include "judge/trial.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/context.h"
#include "exact/floats.h"
#include "exact/round.h"
#include "judge/guarded_run.h"
#include "judge/judge_case.h"
#include "model/case.h"

/* Trials up to this many output elements get the extra runs. */
enum { SMALL_TRIAL = 1 << 15 };

/* The calls of a trial, as tki_setup_draw() numbers them. */
enum {
    CALL_FIRST,
    CALL_SECOND,
    CALL_CHANGED,
    CALL_IN_PLACE,
    CALL_PART,
    CALL_AGAIN,
    CALL_REPEATED,
    CALL_SWAPPED = 64
};

int tki_clause_find(const tk_contract *contract, tk_clause_kind kind)
{
    for (int i = 0; i < contract->clause_count; i++)
        if (contract->clauses[i].kind == kind)
            return i;
    return -1;
}

/* What failed without a clause must not count as held. */
static tk_status decided(tki_subject *subject, tk_status status, const tki_trial_result *result)
{
    if (status != TK_OK || !result->clause_missing)
        return status;
    return TKI_FAIL_BY(subject->ctx, TKI_FAILED_CLAUSE, .status = TK_INTERNAL, .op = subject->contract->name);
}

void tki_trial_fail_element(tki_trial_result *result)
{
    const tki_element *e = &result->judgement.failure;
    if (e->present)
        tki_trial_fail(result, e->clause, (tki_finding){.kind = TKI_FOUND_ELEMENT});
}

/* Without the time to judge all of it, the trial could not be run. */
static tk_status judge_outputs(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                               const tki_run *r, bool promised, tki_judgement *judgement, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    const tki_judged_how how = {.promised = promised, .sampled = trial->sampled};
    const void *tensors[TK_MAX_PARAMS];
    for (int p = 0; p < c->contract->param_count; p++)
        tensors[p] = c->contract->params[p].output ? r->pointers[p] : inputs->data[p];
    if (subject->observing)
        return TK_OK;
    const tk_status status = tki_judge_case(subject->ctx, subject->oracle, subject->tables, c, tensors, how,
                                            judgement);
    if (status != TK_TIMEOUT)
        return status;
    tki_trial_could_not(result, status, subject->ctx);
    return TK_OK;
}

/* One call on these inputs; *r is to be freed whatever came of it. */
static tk_status run_once(tki_subject *subject, const tki_trial *trial, int number, const tk_case *c,
                          const tki_inputs *inputs, tki_run *r, double *seconds, tki_trial_result *result)
{
    const tk_status status = tki_run_prepare(subject, r, c, inputs, tki_setup_draw(trial, number),
                                             number == CALL_IN_PLACE, NULL);
    return status == TK_OK ? tki_run_call(subject, c, r, seconds, result) : status;
}

/* An op that may work in place must give the same bits when it does. */
static tk_status run_in_place(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                              const tki_run *first, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    int clause = tki_clause_find(c->contract, TK_CLAUSE_IN_PLACE);
    if (clause < 0 || result->failed_clause >= 0)
        return TK_OK;
    tki_run third;
    tk_status status = run_once(subject, trial, CALL_IN_PLACE, c, inputs, &third, NULL, result);
    if (tki_run_ended(status, result)) {
        result->structural[clause]++;
        tki_run_check_surroundings(c, &third, inputs, true, result);
        for (int p = 0; p < c->contract->param_count; p++) {
            tk_dtype dtype = tk_case_param_dtype(c, p);
            for (int64_t i = 0; c->contract->params[p].output && i < tk_case_elements(c, p); i++)
                if (!tki_same_elements(dtype, first->pointers[p], third.pointers[p], i))
                    tki_trial_fail(result, clause,
                                   (tki_finding){.kind = TKI_FOUND_OTHER_IN_PLACE, .param = p, .at = i});
        }
    }
    tki_run_free(&third);
    return status;
}

static bool has_dim(const tk_param *param, int dim)
{
    for (int axis = 0; axis < param->rank; axis++)
        if (param->dim[axis] == dim)
            return true;
    return false;
}

/* Of outputs that do not have the size, every element may depend on all of it. */
static tk_status compare_part(tki_subject *subject, const tk_case *whole, const tk_case *part, int dim, int64_t begin,
                              const tki_run *first, const tki_run *alone, tki_trial_result *result)
{
    for (int p = 0; p < whole->contract->param_count; p++) {
        const tk_dtype dtype = tk_case_param_dtype(whole, p);
        const int64_t count = tk_case_elements(part, p);
        if (!whole->contract->params[p].output || !has_dim(&whole->contract->params[p], dim) || count == 0)
            continue;
        void *expected = malloc(tki_param_bytes(part, p));
        if (!expected)
            return TKI_FAIL_BY(subject->ctx, TKI_FAILED_PART_MEMORY, .status = TK_NO_MEMORY);
        tki_tensor_slice(whole, p, dim, begin, part, first->pointers[p], expected);
        for (int64_t i = 0; i < count; i++)
            if (!tki_same_elements(dtype, expected, alone->pointers[p], i))
                result->determinism = TK_RUN_TO_RUN;
        free(expected);
    }
    return TK_OK;
}

int tki_batch_dim(const tk_contract *contract)
{
    int output = contract->param_count - 1;
    while (!contract->params[output].output)
        output--;
    return contract->params[output].dim[0];
}

/* Runs the last rows of the batch alone: are their bits the same as in the whole? */
static tk_status run_part_of_batch(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                                   const tki_run *first, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    const int dim = tki_batch_dim(c->contract);
    int64_t size = c->dims[dim];
    if (size < 2 || result->failed_clause >= 0)
        return TK_OK;
    tk_case part;
    tki_inputs part_inputs;
    tk_status status;
    int64_t begin = size - 1 - size / 3;
    if (!tki_inputs_slice(subject->ctx, c, inputs, dim, begin, size, &part, &part_inputs, &status))
        return status;
    tki_run alone;
    status = run_once(subject, trial, CALL_PART, &part, &part_inputs, &alone, NULL, result);
    if (tki_run_ended(status, result)) {
        status = compare_part(subject, c, &part, dim, begin, first, &alone, result);
        result->batch_checked = true;
        int repeat = tki_clause_find(c->contract, TK_CLAUSE_REPEAT);
        if (subject->lowering && subject->lowering->determinism >= TK_BATCH_INVARIANT &&
            result->determinism < TK_BATCH_INVARIANT)
            tki_trial_fail(result, repeat, (tki_finding){.kind = TKI_FOUND_OTHER_ALONE, .at = begin});
    }
    tki_run_free(&alone);
    tki_inputs_free(&part_inputs);
    return status;
}

static int64_t output_elements(const tk_case *c)
{
    int64_t count = 0;
    for (int p = 0; p < c->contract->param_count; p++)
        count += c->contract->params[p].output ? tk_case_elements(c, p) : 0;
    return count;
}

static tk_status judge_first_run(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                                 const tki_run *first, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    tk_status status = judge_outputs(subject, trial, inputs, first, false, &result->judgement, result);
    if (status == TK_OK)
        tki_trial_fail_element(result);
    bool promises = subject->lowering && (subject->lowering->promises_bound || subject->lowering->promises_bits);
    if (!tki_run_ended(status, result) || !promises || result->failed_clause >= 0)
        return status;
    /* The promise is judged by itself; only its own clause counts there. */
    tki_judgement promised = {0};
    status = judge_outputs(subject, trial, inputs, first, true, &promised, result);
    for (int i = 0; i < c->contract->clause_count; i++) {
        const tk_clause_kind kind = c->contract->clauses[i].kind;
        if (kind != TK_CLAUSE_PROMISE && kind != TK_CLAUSE_BITS)
            continue;
        result->judgement.judged[i] += promised.judged[i];
        result->judgement.failed[i] += promised.failed[i];
        tki_refused_add(&result->judgement.refused[i], &promised.refused[i]);
    }
    if (promised.failure.present) {
        result->judgement.failure = promised.failure;
        tki_trial_fail_element(result);
    }
    return status;
}

/* A second opinion of the first run's output, by other arithmetic than that of the enclosures. */
static tk_status screen_first_run(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                                  const tki_run *first, tki_trial_result *result)
{
    if (!subject->oracle || !subject->oracle->screen || subject->observing || result->failed_clause >= 0 ||
        result->could_not_run)
        return TK_OK;
    const tk_case *c = &trial->c;
    tki_oracle_job job = {.c = c, .buffers = (const void *const *)inputs->data, .tables = subject->tables};
    tk_status status = TK_OK;
    for (int p = 0; p < c->contract->param_count && status == TK_OK; p++) {
        bool passes;
        if (!c->contract->params[p].output)
            continue;
        job.output = p;
        status = subject->oracle->screen(&job, first->pointers[p], trial->seed, &result->screened_by, &passes);
        if (status == TK_OK && !passes)
            tki_trial_fail(result, tki_clause_find(c->contract, TK_CLAUSE_ERROR),
                           (tki_finding){.kind = TKI_FOUND_BY_SCREEN, .param = p});
    }
    return status == TK_OK ? TK_OK
                           : TKI_FAIL_BY(subject->ctx, TKI_FAILED_ORACLE, .status = status, .op = c->contract->name);
}

/* How the inputs of a call differ from the trial's. */
typedef bool change_inputs(const tki_trial *trial, tki_inputs *inputs, int *changed, int64_t *position);

/* Each output holds what it was when the kernel was asked for the trial's inputs: one that takes that for its own work does nothing. */
static void hold_old_results(const tk_case *c, const tki_run *first, tki_run *r)
{
    for (int p = 0; p < c->contract->param_count; p++)
        if (c->contract->params[p].output && r->buffer[p].bytes) {
            r->fill[p] = (tki_fill){.kind = TKI_FILL_STALE,
                                    .source = first->pointers[p],
                                    .source_bytes = r->buffer[p].bytes,
                                    .element = r->fill[p].element};
            memcpy(r->buffer[p].data, first->pointers[p], r->buffer[p].bytes);
        }
}

/* A kernel that keeps a result by address, by size, or by a part or a sum of its inputs gives it here for inputs that are
 * not the same. */
static tk_status run_changed(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                             const tki_run *first, bool swap, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    change_inputs *const change = swap ? tki_inputs_swap : tki_inputs_change;
    tki_inputs changed;
    int param;
    int64_t position;
    if (result->failed_clause >= 0 || result->could_not_run)
        return TK_OK;
    tk_status status = tki_inputs_copy(subject->ctx, c, inputs, &changed);
    if (status != TK_OK)
        return status;
    tki_run r;
    /* In half of the trials where the arrays of the call before lay: a kernel may keep by address. */
    tki_setup setup = tki_setup_draw(trial, swap ? CALL_SWAPPED : CALL_CHANGED);
    if (setup.fill_seed[0] & 1)
        memcpy(setup.placement, tki_setup_draw(trial, CALL_SECOND).placement, sizeof setup.placement);
    if (!change(trial, &changed, &param, &position) ||
        (status = tki_run_prepare(subject, &r, c, &changed, setup, false, NULL)) != TK_OK) {
        tki_inputs_free(&changed);
        return status;
    }
    if (swap || setup.fill_seed[0] & 2)
        hold_old_results(c, first, &r);
    status = tki_run_call(subject, c, &r, NULL, result);
    if (tki_run_ended(status, result)) {
        double begin = tki_now();
        tki_trial_result second = {.failed_clause = -1};
        tki_run_check_surroundings(c, &r, &changed, false, &second);
        status = judge_outputs(subject, trial, &changed, &r, false, &second.judgement, result);
        if (status == TK_OK)
            tki_trial_fail_element(&second);
        const tki_element *worst = &second.judgement.worst;
        tki_judgement_add(&result->judgement, &second.judgement);
        if (worst->present && (!result->judgement.worst.present || worst->ulps > result->judgement.worst.ulps)) {
            result->judgement.worst = *worst;
            result->worst_changed = true;
        }
        if (second.failed_clause >= 0 || second.clause_missing) {
            result->judgement.failure = second.judgement.failure;
            result->only_changed = true;
            second.finding.changed = true;
            second.finding.swapped = swap;
            second.finding.changed_param = param;
            second.finding.changed_at = position;
            tki_trial_fail(result, second.failed_clause, second.finding);
        }
        result->judge_seconds += tki_now() - begin;
    }
    tki_run_free(&r);
    tki_inputs_free(&changed);
    return status;
}

/* The first inputs again, now that others came between: the bits must be those of the first run. */
static tk_status run_repeated(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                              const tki_run *first, int number, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    tki_run again;
    if (result->failed_clause >= 0 || result->could_not_run)
        return TK_OK;
    tk_status status = run_once(subject, trial, CALL_REPEATED + number, c, inputs, &again, NULL, result);
    if (tki_run_ended(status, result)) {
        tki_run_check_surroundings(c, &again, inputs, false, result);
        tki_runs_compare(c, first, &again, result);
    }
    tki_run_free(&again);
    return status;
}

/* One small trial in four. */
static bool has_swaps(const tki_subject *subject, const tki_trial *trial)
{
    return subject->suspicion && tki_trial_calls_seed(trial) / 8 % 4 == 0;
}

/* Right after the trial's own inputs, which may be the last ones that the kernel remembers. */
static tk_status run_swapped(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                             const tki_run *first, tki_trial_result *result)
{
    const tk_status status = run_repeated(subject, trial, inputs, first, subject->suspicion, result);
    return status == TK_OK ? run_changed(subject, trial, inputs, first, true, result) : status;
}

/* One small trial in eight. What a visitor runs is not judged, so that it does not count as run, and a kernel of one
 * type may crash in it. */
static bool has_visitor(const tki_subject *subject, const tki_trial *trial)
{
    return subject->visit && subject->suspicion && !subject->observing && output_elements(&trial->c) <= SMALL_TRIAL &&
           trial->family >= 0 && tki_trial_calls_seed(trial) % 8 == 0;
}

tk_status tki_trial_run(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                        tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    const bool small = output_elements(c) <= SMALL_TRIAL && !trial->brief;
    tki_run first;
    tki_run second;
    *result = (tki_trial_result){.failed_clause = -1, .determinism = TK_BATCH_INVARIANT};
    tk_status status = has_visitor(subject, trial) ? subject->visit(subject, trial) : TK_OK;
    if (status == TK_OK)
        status = tki_run_prepare(subject, &first, c, inputs, tki_setup_draw(trial, CALL_FIRST), false, NULL);
    if (status != TK_OK)
        return status;
    status = tki_run_prepare(subject, &second, c, inputs, tki_setup_draw(trial, CALL_SECOND), false, &first);
    subject->ctx->left_out = (tki_left_out){0};
    if (status == TK_OK)
        status = tki_run_call(subject, c, &first, &result->kernel_seconds, result);
    result->left_out = subject->ctx->left_out;
    const bool all = subject->observing != TKI_OBSERVE_FIRST;
    if (tki_run_ended(status, result) && all)
        status = tki_run_call(subject, c, &second, NULL, result);
    if (tki_run_ended(status, result) && all) {
        tki_run_check_surroundings(c, &first, inputs, false, result);
        tki_run_check_surroundings(c, &second, inputs, false, result);
        tki_runs_compare(c, &first, &second, result);
        static const tk_clause_kind structural[] = {TK_CLAUSE_WRITE, TK_CLAUSE_REPEAT, TK_CLAUSE_SHAPE};
        for (size_t i = 0; i < sizeof structural / sizeof *structural; i++)
            if (tki_clause_find(c->contract, structural[i]) >= 0)
                result->structural[tki_clause_find(c->contract, structural[i])]++;
        if (subject->hash)
            status = subject->hash(c, (const void *const *)first.pointers, result->output_hash);
        double begin = tki_now();
        if (status == TK_OK)
            status = judge_first_run(subject, trial, inputs, &first, result);
        if (status == TK_OK)
            status = screen_first_run(subject, trial, inputs, &first, result);
        result->judge_seconds = tki_now() - begin;
        /* Before any other case comes between, since one that remembers may remember the last call only. */
        /* What is judged of a sample may not have what was changed; and what needs gibibytes takes minutes as it is. */
        const int again = trial->sampled || trial->brief || trial->where_memory_allows ? 0 : subject->suspicion;
        if (status == TK_OK && again)
            status = run_changed(subject, trial, inputs, &first, false, result);
        if (tki_run_ended(status, result) && small)
            status = run_in_place(subject, trial, inputs, &first, result);
        if (tki_run_ended(status, result) && small)
            status = run_part_of_batch(subject, trial, inputs, &first, result);
        if (status == TK_OK && small && has_swaps(subject, trial))
            status = run_swapped(subject, trial, inputs, &first, result);
        /* Last, so that the next trial, which may be of the same bytes, comes right after them. */
        for (int i = 0; i < again && status == TK_OK; i++)
            status = run_repeated(subject, trial, inputs, &first, i, result);
        tki_run_keep_stale(subject, c, &first);
    }
    tki_run_free(&first);
    tki_run_free(&second);
    return decided(subject, status, result);
}

tk_status tki_trial_glance(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                           tki_trial_result *result)
{
    tki_run only;
    *result = (tki_trial_result){.failed_clause = -1, .determinism = TK_BATCH_INVARIANT};
    tk_status status = run_once(subject, trial, CALL_FIRST, &trial->c, inputs, &only, &result->kernel_seconds,
                                result);
    if (tki_run_ended(status, result)) {
        tki_run_check_surroundings(&trial->c, &only, inputs, false, result);
        status = judge_first_run(subject, trial, inputs, &only, result);
    }
    tki_run_free(&only);
    return decided(subject, status, result);
}

void tki_trial_give_inputs(tki_trial *trial)
{
    trial->seed = tki_trial_calls_seed(trial);
    trial->family = TKI_GIVEN_INPUTS;
}

tk_status tki_trial_adopt_change(tki_subject *subject, tki_trial *trial, tki_inputs *inputs, tki_trial_result *result)
{
    tki_inputs changed;
    tki_trial_result alone;
    int param;
    int64_t position;
    tk_status status = tki_inputs_copy(subject->ctx, &trial->c, inputs, &changed);
    if (status != TK_OK)
        return status;
    const int suspicion = subject->suspicion;
    subject->suspicion = 0;
    bool fails = false;
    const bool swapped = result->finding.swapped;
    if ((swapped ? tki_inputs_swap : tki_inputs_change)(trial, &changed, &param, &position)) {
        status = tki_trial_run(subject, trial, &changed, &alone);
        fails = status == TK_OK && alone.failed_clause >= 0 && !alone.could_not_run;
    }
    subject->suspicion = suspicion;
    if (fails) {
        tki_inputs_free(inputs);
        *inputs = changed;
        *result = alone;
        tki_trial_give_inputs(trial);
    } else {
        tki_inputs_free(&changed);
    }
    return status;
}

tk_status tki_trial_run_again(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                              const char *output_hash, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    tki_run again;
    *result = (tki_trial_result){.failed_clause = -1, .determinism = TK_BATCH_INVARIANT};
    tk_status status = run_once(subject, trial, CALL_AGAIN, c, inputs, &again, &result->kernel_seconds, result);
    if (tki_run_ended(status, result)) {
        tki_run_check_surroundings(c, &again, inputs, false, result);
        if (subject->hash)
            status = subject->hash(c, (const void *const *)again.pointers, result->output_hash);
        int repeat = tki_clause_find(c->contract, TK_CLAUSE_REPEAT);
        if (repeat >= 0)
            result->structural[repeat]++;
        if (!subject->hash || strcmp(result->output_hash, output_hash) != 0) {
            result->determinism = TK_DETERMINISM_NONE;
            tki_trial_fail(result, repeat, (tki_finding){.kind = TKI_FOUND_OTHER_AGAIN});
        }
    }
    tki_run_free(&again);
    return decided(subject, status, result);
}

tk_status tki_trial_observe(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs, int threads,
                            int64_t places[TK_MAX_PARAMS], tki_trial_result *result)
{
    enum { PAGE = 4096 };
    tki_run once;
    *result = (tki_trial_result){.failed_clause = -1};
    tki_setup setup = tki_setup_draw(trial, CALL_AGAIN);
    setup.threads = threads;
    tk_status status = tki_run_prepare(subject, &once, &trial->c, inputs, setup, false, NULL);
    if (status != TK_OK)
        return status;
    for (int p = 0; p < trial->c.contract->param_count; p++)
        places[p] = (int64_t)((uintptr_t)once.pointers[p] % PAGE);
    status = tki_run_call(subject, &trial->c, &once, NULL, result);
    tki_run_free(&once);
    return status;
}

static void check_not_written(const tki_run *r, int p, size_t begin, size_t end, int clause, tki_trial_result *result)
{
    if (!tki_fill_intact(&r->fill[p], begin, end - begin, r->buffer[p].data + begin))
        tki_trial_fail(result, clause, (tki_finding){.kind = TKI_FOUND_INDEX_WRITTEN_FOR, .param = p});
}

/* A kernel on the CPU looks at all indices first and then writes nothing. One on a GPU meets a bad index while others
 * are at work: it leaves out what belongs to that index, or everything where an output has no part that does. */
static void check_bad_index_written(const tki_subject *subject, const tk_case *c, const tki_run *r, int index_param,
                                    int64_t position, int clause, tki_trial_result *result)
{
    bool by_rows = subject->caller->leaves_by_rows;
    int index_dim = c->contract->params[index_param].dim[0];
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (!param->output)
            continue;
        size_t bytes = r->buffer[p].bytes;
        if (!by_rows || param->dim[0] != index_dim || c->dims[index_dim] == 0) {
            check_not_written(r, p, 0, bytes, clause, result);
            continue;
        }
        size_t row = bytes / (size_t)c->dims[index_dim];
        check_not_written(r, p, (size_t)position * row, ((size_t)position + 1) * row, clause, result);
        check_not_written(r, p, bytes - row, bytes, clause, result);
    }
}

tk_status tki_trial_run_bad_index(tki_subject *subject, const tki_trial *trial, tki_inputs *inputs, int param,
                                  int64_t position, int64_t value, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    int clause = tki_clause_find(c->contract, TK_CLAUSE_INDEX);
    const tk_dtype dtype = tk_case_param_dtype(c, param);
    int64_t count = tk_case_elements(c, param);
    *result = (tki_trial_result){.failed_clause = -1, .determinism = TK_BATCH_INVARIANT};
    tki_inputs_set_index(dtype, inputs->data[param], position, value);
    tki_inputs_set_index(dtype, inputs->data[param], count - 1, value);
    tki_run r;
    tk_status status = tki_run_prepare(subject, &r, c, inputs, tki_setup_draw(trial, CALL_FIRST), false, NULL);
    if (status != TK_OK)
        return status;
    tk_status answer = subject->caller->call(subject->caller, c, r.pointers, 0, NULL);
    const tki_fault fault = subject->ctx->fault;
    tki_trial_keep_words(result, subject->ctx);
    if (answer != TK_BAD_INDEX)
        tki_trial_fail(
            result, clause,
            (tki_finding){.kind = TKI_FOUND_INDEX_TAKEN, .param = param, .at = position, .seen = {(uint64_t)value}});
    else if (fault.kind != TKI_FAULT_INDEX || fault.tensor != param || fault.offset != position)
        tki_trial_fail(result, clause,
                       (tki_finding){.kind = TKI_FOUND_INDEX_NOT_NAMED, .param = param, .at = position});
    check_bad_index_written(subject, c, &r, param, position, clause, result);
    tki_run_check_overrun(subject, c, result);
    tki_run_check_surroundings(c, &r, inputs, false, result);
    if (clause >= 0)
        result->structural[clause] = 1;
    tki_run_free(&r);
    return decided(subject, TK_OK, result);
}
