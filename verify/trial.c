/* TRUSTED. One trial. The kernel runs twice on fresh buffers that lie at other kinds of places and hold other bytes, with different
 * numbers of threads (setup.h); then, where the contract allows it, in place, and on a part of the batch alone. A stranger's kernel, which
 * may remember what it was asked before, runs once more with one input element changed, and is judged anew; then with the
 * first inputs again. */
#include "verify/trial.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/case.h"
#include "core/clock.h"
#include "core/context.h"
#include "core/random.h"
#include "exact/domain.h"
#include "exact/floats.h"
#include "exact/round.h"
#include "verify/guard.h"
#include "verify/setup.h"

/* Trials up to this many output elements get the extra runs. */
enum { SMALL_TRIAL = 1 << 15 };

/* The calls of a trial, as tki_setup_draw() numbers them. */
enum { CALL_FIRST, CALL_SECOND, CALL_CHANGED, CALL_IN_PLACE, CALL_PART, CALL_AGAIN, CALL_REPEATED };

int tki_clause_find(const tk_contract *contract, tk_clause_kind kind)
{
    for (int i = 0; i < contract->clause_count; i++)
        if (contract->clauses[i].kind == kind)
            return i;
    return -1;
}

tk_status tki_inputs_alloc(tk_ctx *ctx, const tk_case *c, tki_inputs *inputs)
{
    *inputs = (tki_inputs){0};
    for (int p = 0; p < c->contract->param_count; p++) {
        if (c->contract->params[p].output)
            continue;
        size_t bytes = (size_t)tk_case_elements(c, p) * tk_dtype_size(tk_case_param_dtype(c, p));
        inputs->data[p] = malloc(bytes ? bytes : 1);
        if (!inputs->data[p]) {
            tki_inputs_free(inputs);
            return tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu bytes of inputs", bytes);
        }
    }
    return TK_OK;
}

void tki_inputs_free(tki_inputs *inputs)
{
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        free(inputs->data[p]);
    *inputs = (tki_inputs){0};
}

static int64_t index_at(tk_dtype dtype, const void *data, int64_t i)
{
    return dtype == TK_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
}

static void set_index(const tk_case *c, void *data, int64_t i, int64_t value)
{
    if (c->index_dtype == TK_I64)
        ((int64_t *)data)[i] = value;
    else
        ((int32_t *)data)[i] = (int32_t)value;
}

/* Moves indices into a part of the size they point into. */
static bool shift_indices(const tk_case *part, void *data, int64_t count, int64_t begin, int64_t end)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t index = index_at(part->index_dtype, data, i);
        if (part->contract->takes_xent_options && index == part->xent.ignore_index)
            continue;
        if (index < begin || index >= end)
            return false;
        set_index(part, data, i, index - begin);
    }
    return true;
}

bool tki_inputs_slice(tk_ctx *ctx, const tk_case *c, const tki_inputs *inputs, int dim, int64_t begin, int64_t end,
                      tk_case *part, tki_inputs *part_inputs, tk_status *status)
{
    *part = *c;
    part->dims[dim] = end - begin;
    *status = tki_inputs_alloc(ctx, part, part_inputs);
    if (*status != TK_OK)
        return false;
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (param->output)
            continue;
        size_t element = tk_dtype_size(tk_case_param_dtype(c, p));
        int64_t rows = param->rank == 2 ? c->dims[param->dim[0]] : 1;
        int64_t cols = c->dims[param->dim[param->rank - 1]];
        bool slice_rows = param->rank == 2 && param->dim[0] == dim;
        bool slice_cols = param->dim[param->rank - 1] == dim;
        int64_t row_begin = slice_rows ? begin : 0;
        int64_t row_end = slice_rows ? end : rows;
        int64_t col_begin = slice_cols ? begin : 0;
        int64_t col_end = slice_cols ? end : cols;
        size_t line = (size_t)(col_end - col_begin) * element;
        for (int64_t r = row_begin; r < row_end; r++)
            memcpy((char *)part_inputs->data[p] + (size_t)(r - row_begin) * line,
                   (const char *)inputs->data[p] + (size_t)(r * cols + col_begin) * element, line);
        if (param->kind == TK_KIND_INDEX && param->indexed_dim == dim &&
            !shift_indices(part, part_inputs->data[p], tk_case_elements(part, p), begin, end)) {
            tki_inputs_free(part_inputs);
            return false;
        }
    }
    return true;
}

/* One run's buffers. */
typedef struct run {
    tki_setup setup;
    tki_guarded buffer[TK_MAX_PARAMS];
    void *pointers[TK_MAX_PARAMS];
    tki_fill fill[TK_MAX_PARAMS]; /* of outputs, as they were before the call */
} run;

static void run_free(run *r)
{
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        tki_guard_free(&r->buffer[p]);
}

static size_t param_bytes(const tk_case *c, int p)
{
    return (size_t)tk_case_elements(c, p) * tk_dtype_size(tk_case_param_dtype(c, p));
}

/* What output p holds before the call. An input of the case, or what an earlier call gave, may be among it. */
static tki_fill fill_of(const tki_subject *subject, const tk_case *c, const tki_inputs *inputs,
                        const tki_setup *setup, int p)
{
    tki_fill fill = {
        .kind = setup->fill[p], .seed = setup->fill_seed[p], .element = tk_dtype_size(tk_case_param_dtype(c, p))};
    if (fill.kind == TKI_FILL_STALE) {
        fill.source = subject->stale[p];
        fill.source_bytes = subject->stale_bytes[p];
    }
    for (int q = 0; q < p && fill.kind == TKI_FILL_INPUT && !fill.source; q++)
        if (inputs->data[q] && c->contract->params[q].kind == TK_KIND_VALUE) {
            fill.source = inputs->data[q];
            fill.source_bytes = param_bytes(c, q);
        }
    return fill;
}

/* `in_place`: outputs that may share an input's buffer do. `unlike`: a run whose outputs held something else, in every element; it must
 * outlive this one. Buffers of a worker's kernel are copied before it sees them, so that nothing guards them here. */
static tk_status run_prepare(tki_subject *subject, run *r, const tk_case *c, const tki_inputs *inputs,
                             tki_setup setup, bool in_place, const run *unlike)
{
    *r = (run){.setup = setup};
    for (int p = 0; p < c->contract->param_count; p++) {
        size_t bytes = param_bytes(c, p);
        size_t element = tk_dtype_size(tk_case_param_dtype(c, p));
        bool allocated = subject->executor.executable.worker
                             ? tki_guard_alloc_plain(&r->buffer[p], setup.placement[p], bytes, element)
                             : tki_guard_alloc(&r->buffer[p], setup.placement[p], bytes, element);
        if (!allocated) {
            run_free(r);
            return tki_fail(subject->ctx, TK_NO_MEMORY, "no memory for a buffer of %zu bytes", bytes);
        }
        r->pointers[p] = r->buffer[p].data;
        if (c->contract->params[p].output) {
            r->fill[p] = fill_of(subject, c, inputs, &setup, p);
            r->fill[p].unlike = unlike ? &unlike->fill[p] : NULL;
            tki_fill_bytes(&r->fill[p], 0, bytes, r->buffer[p].data);
        } else if (bytes) {
            memcpy(r->buffer[p].data, inputs->data[p], bytes);
        }
    }
    for (int p = 0; p < c->contract->param_count && in_place; p++)
        if (c->contract->params[p].output && c->contract->params[p].may_alias >= 0)
            r->pointers[p] = r->pointers[c->contract->params[p].may_alias];
    return TK_OK;
}

/* Keeps the beginning of the outputs, to be found in the outputs of later calls. */
static void keep_stale(tki_subject *subject, const tk_case *c, const run *r)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        size_t bytes = param_bytes(c, p);
        if (!c->contract->params[p].output || !bytes)
            continue;
        subject->stale_bytes[p] = bytes < sizeof subject->stale[p] ? bytes : sizeof subject->stale[p];
        memcpy(subject->stale[p], r->pointers[p], subject->stale_bytes[p]);
    }
}

__attribute__((format(printf, 3, 4))) static void fail(tki_trial_result *result, int clause, const char *format, ...)
{
    if (result->failed_clause >= 0)
        return;
    result->failed_clause = clause;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->reason, sizeof result->reason, format, arguments);
    va_end(arguments);
}

static void check_surroundings(const tk_case *c, const run *r, const tki_inputs *inputs, bool in_place,
                               tki_trial_result *result)
{
    int write = tki_clause_find(c->contract, TK_CLAUSE_WRITE);
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        int64_t offset;
        if (!tki_guard_intact(&r->buffer[p], &offset))
            fail(result, write, "wrote outside %s, at byte %lld of its %zu", param->name, (long long)offset,
                 r->buffer[p].bytes);
        bool overwritten = false;
        for (int q = 0; q < c->contract->param_count && in_place; q++)
            overwritten |= c->contract->params[q].output && c->contract->params[q].may_alias == p;
        if (!param->output && !overwritten && r->buffer[p].bytes &&
            memcmp(r->buffer[p].data, inputs->data[p], r->buffer[p].bytes) != 0)
            fail(result, write, "changed its input %s", param->name);
    }
}

/* A failure that is known as data; of several the first counts. */
static void fail_by(tki_trial_result *result, const tk_case *c, const tki_fault *fault, const char *text)
{
    if (result->failed_clause >= 0)
        return;
    int clause = tki_clause_find(c->contract, tki_fault_clause(fault));
    result->fault = *fault;
    fail(result, clause >= 0 ? clause : tki_clause_find(c->contract, TK_CLAUSE_SHAPE), "%.500s", text);
}

/* What a kernel did that ran on copies of its buffers: to the memory around them, and to its process. */
static void check_overrun(const tki_subject *subject, const tk_case *c, tki_trial_result *result)
{
    const tki_overrun *overrun = &subject->executor.overrun;
    tki_fault faults[] = {
        {.kind = TKI_FAULT_OVERRUN, .tensor = overrun->param, .offset = overrun->offset, .wrote = true},
        {.kind = TKI_FAULT_FLOAT_MODE, .tensor = -1}};
    const bool there[] = {overrun->param >= 0, overrun->left_float_mode};
    for (size_t i = 0; i < sizeof there; i++) {
        char text[300];
        if (!there[i])
            continue;
        if (faults[i].tensor >= 0)
            faults[i].bytes = (int64_t)param_bytes(c, faults[i].tensor);
        tki_fault_text(&faults[i], c->contract, NULL, text, sizeof text);
        fail_by(result, c, &faults[i], text);
    }
}

static bool same_bits(tk_dtype dtype, uint32_t a, uint32_t b)
{
    return a == b || (tki_is_nan(dtype, a) && tki_is_nan(dtype, b));
}

static bool still_filled(const run *r, int p, size_t element, int64_t i)
{
    return tki_fill_intact(&r->fill[p], (size_t)i * element, element,
                           (const unsigned char *)r->pointers[p] + (size_t)i * element);
}

static void compare_runs(const tk_case *c, const run *a, const run *b, tki_trial_result *result)
{
    int write = tki_clause_find(c->contract, TK_CLAUSE_WRITE);
    int repeat = tki_clause_find(c->contract, TK_CLAUSE_REPEAT);
    for (int p = 0; p < c->contract->param_count; p++) {
        if (!c->contract->params[p].output)
            continue;
        tk_dtype dtype = tk_case_param_dtype(c, p);
        size_t element = tk_dtype_size(dtype);
        int64_t count = tk_case_elements(c, p);
        if (count == 0 || !memcmp(a->pointers[p], b->pointers[p], (size_t)count * element))
            continue;
        for (int64_t i = 0; i < count; i++) {
            uint32_t x = tki_element_bits(dtype, a->pointers[p], i);
            uint32_t y = tki_element_bits(dtype, b->pointers[p], i);
            if (same_bits(dtype, x, y))
                continue;
            if (still_filled(a, p, element, i) && still_filled(b, p, element, i)) {
                fail(result, write, "left %s[%lld] unwritten", c->contract->params[p].name, (long long)i);
            } else {
                result->determinism = TK_DETERMINISM_NONE;
                fail(result, repeat, "%s[%lld] was 0x%x on one run and 0x%x on another with the same inputs",
                     c->contract->params[p].name, (long long)i, x, y);
            }
            return;
        }
    }
}

/* All NaNs hash as one pattern. The 16-bit loop has no call in it, since an exhaustive run passes billions through it. */
static void canonicalise(tk_dtype dtype, unsigned char *block, int64_t count)
{
    if (tk_dtype_size(dtype) == 2) {
        uint16_t *elements = (uint16_t *)(void *)block;
        uint16_t infinity = (uint16_t)tki_round_double(dtype, INFINITY);
        uint16_t canonical = (uint16_t)tki_canonical_nan(dtype);
        for (int64_t i = 0; i < count; i++)
            elements[i] = (elements[i] & 0x7fff) > infinity ? canonical : elements[i];
        return;
    }
    uint32_t *elements = (uint32_t *)(void *)block;
    for (int64_t i = 0; i < count; i++)
        if (tki_is_nan(dtype, elements[i]))
            elements[i] = tki_canonical_nan(dtype);
}

static tk_status hash_outputs(const tk_case *c, const run *r, tki_trial_result *result)
{
    tki_hash hash;
    tki_hash_begin(&hash);
    for (int p = 0; p < c->contract->param_count; p++) {
        if (!c->contract->params[p].output)
            continue;
        tk_dtype dtype = tk_case_param_dtype(c, p);
        size_t bytes = param_bytes(c, p);
        _Alignas(4) unsigned char block[1 << 14];
        for (size_t begin = 0; begin < bytes; begin += sizeof block) {
            size_t part = bytes - begin < sizeof block ? bytes - begin : sizeof block;
            memcpy(block, (const char *)r->pointers[p] + begin, part);
            canonicalise(dtype, block, (int64_t)(part / tk_dtype_size(dtype)));
            tki_hash_add(&hash, block, part);
        }
    }
    return tki_hash_finish(&hash, result->output_hash) ? TK_OK : TK_INTERNAL;
}

static void describe_failure(const tk_case *c, tki_trial_result *result)
{
    const tki_element *e = &result->judgement.failure;
    char text[sizeof result->reason];
    if (!e->present)
        return;
    tki_element_describe(c, e, text, sizeof text);
    fail(result, e->clause, "%s", text);
}

static tk_status judge_outputs(tki_subject *subject, const tk_case *c, const tki_inputs *inputs, const run *r,
                               bool promised, tki_judgement *judgement)
{
    if (subject->observing)
        return TK_OK;
    tki_oracle_job job = {
        .c = c, .buffers = (const void *const *)inputs->data, .promised = promised, .tables = subject->tables};
    const tki_floats floats = tki_floats_begin();
    void *prepared = NULL;
    tk_status status = TK_OK;
    if (subject->oracle->prepare)
        status = subject->oracle->prepare(&job, &prepared);
    job.prepared = prepared;
    for (int p = 0; p < c->contract->param_count && status == TK_OK; p++) {
        if (!c->contract->params[p].output)
            continue;
        job.output = p;
        status = tki_judge(subject->oracle, &job, r->pointers[p], tki_ctx_threads(subject->ctx), judgement);
    }
    if (subject->oracle->release)
        subject->oracle->release(prepared);
    tki_floats_end(&floats);
    return status == TK_OK
               ? TK_OK
               : tki_fail(subject->ctx, status, "the oracle of %s: %s", c->contract->name, tk_status_text(status));
}

/* It ran to its end, so there are outputs to look at. */
static bool ran(tk_status status, const tki_trial_result *result)
{
    return status == TK_OK && !result->could_not_run && !result->faulted;
}

/* Runs once; a kernel that reports failure sets could_not_run, one that crashes has failed. */
static tk_status call(tki_subject *subject, const tk_case *c, run *r, double *seconds, tki_trial_result *result)
{
    int asked_for = subject->ctx->threads;
    subject->ctx->threads = r->setup.threads;
    const tki_floats floats = tki_floats_begin();
    tk_status status = tki_executor_call(&subject->executor, c, r->pointers, seconds);
    tki_floats_end(&floats);
    subject->ctx->threads = asked_for;
    check_overrun(subject, c, result);
    if (status == TK_OK || status == TK_NO_MEMORY)
        return status;
    if (status == TK_KERNEL_FAULT) {
        result->faulted = true;
        fail_by(result, c, &subject->ctx->fault, tk_ctx_message(subject->ctx));
        return TK_OK;
    }
    result->could_not_run = true;
    result->fault = subject->ctx->fault;
    result->timed_out = status == TK_TIMEOUT;
    snprintf(result->reason, sizeof result->reason, "%s", tk_ctx_message(subject->ctx));
    return TK_OK;
}

/* An op that may work in place must give the same bits when it does. */
static tk_status run_in_place(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                              const run *first, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    int clause = tki_clause_find(c->contract, TK_CLAUSE_IN_PLACE);
    if (clause < 0 || result->failed_clause >= 0)
        return TK_OK;
    run third;
    tk_status status = run_prepare(subject, &third, c, inputs, tki_setup_draw(trial, CALL_IN_PLACE), true, NULL);
    if (status != TK_OK)
        return status;
    status = call(subject, c, &third, NULL, result);
    if (ran(status, result)) {
        result->structural[clause]++;
        check_surroundings(c, &third, inputs, true, result);
        for (int p = 0; p < c->contract->param_count; p++) {
            tk_dtype dtype = tk_case_param_dtype(c, p);
            for (int64_t i = 0; c->contract->params[p].output && i < tk_case_elements(c, p); i++)
                if (!same_bits(dtype, tki_element_bits(dtype, first->pointers[p], i),
                               tki_element_bits(dtype, third.pointers[p], i)))
                    fail(result, clause, "%s[%lld] has other bits when the op works in place",
                         c->contract->params[p].name, (long long)i);
        }
    }
    run_free(&third);
    return status;
}

static void compare_part(const tk_case *whole, const tk_case *part, const run *first, const run *alone, int64_t begin,
                         tki_trial_result *result)
{
    for (int p = 0; p < whole->contract->param_count; p++) {
        const tk_param *param = &whole->contract->params[p];
        if (!param->output)
            continue;
        tk_dtype dtype = tk_case_param_dtype(whole, p);
        int64_t row = param->rank == 2 ? whole->dims[param->dim[1]] : 1;
        for (int64_t i = 0; i < tk_case_elements(part, p); i++)
            if (!same_bits(dtype, tki_element_bits(dtype, first->pointers[p], begin * row + i),
                           tki_element_bits(dtype, alone->pointers[p], i)))
                result->determinism = TK_RUN_TO_RUN;
    }
}

/* Runs the last rows of the batch alone: are their bits the same as in the whole? */
static tk_status run_part_of_batch(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                                   const run *first, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    int output = c->contract->param_count - 1;
    int dim = c->contract->params[output].dim[0];
    int64_t size = c->dims[dim];
    if (size < 2 || result->failed_clause >= 0)
        return TK_OK;
    tk_case part;
    tki_inputs part_inputs;
    tk_status status;
    int64_t begin = size - 1 - size / 3;
    if (!tki_inputs_slice(subject->ctx, c, inputs, dim, begin, size, &part, &part_inputs, &status))
        return status;
    run alone;
    status = run_prepare(subject, &alone, &part, &part_inputs, tki_setup_draw(trial, CALL_PART), false, NULL);
    if (status == TK_OK) {
        status = call(subject, &part, &alone, NULL, result);
        if (ran(status, result)) {
            compare_part(c, &part, first, &alone, begin, result);
            result->batch_checked = true;
            int repeat = tki_clause_find(c->contract, TK_CLAUSE_REPEAT);
            if (subject->lowering && subject->lowering->determinism >= TK_BATCH_INVARIANT &&
                result->determinism < TK_BATCH_INVARIANT)
                fail(result, repeat,
                     "rows %lld and on have other bits when they are computed without the rows before them",
                     (long long)begin);
        }
        run_free(&alone);
    }
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

static tk_status judge_first_run(tki_subject *subject, const tk_case *c, const tki_inputs *inputs, const run *first,
                                 tki_trial_result *result)
{
    tk_status status = judge_outputs(subject, c, inputs, first, false, &result->judgement);
    if (status == TK_OK)
        describe_failure(c, result);
    bool promises = subject->lowering && (subject->lowering->promises_bound || subject->lowering->promises_bits);
    if (status != TK_OK || !promises || result->failed_clause >= 0)
        return status;
    /* The promise is judged by itself; only its own clause counts there. */
    tki_judgement promised = {0};
    status = judge_outputs(subject, c, inputs, first, true, &promised);
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
        describe_failure(c, result);
    }
    return status;
}

/* Changes one element of one input to another value that the op takes. False if there is none to change. */
static bool change_element(const tki_trial *trial, tki_inputs *inputs, const char **name, int64_t *position)
{
    const tk_case *c = &trial->c;
    int candidates[TK_MAX_PARAMS];
    int count = 0;
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        bool settled = param->kind == TK_KIND_INDEX && c->dims[param->indexed_dim] < 2;
        if (!param->output && !settled && tk_case_elements(c, p) > 0)
            candidates[count++] = p;
    }
    if (!count)
        return false;
    tki_random random = tki_random_stream(tki_trial_calls_seed(trial), 1);
    int p = candidates[tki_random_below(&random, (uint64_t)count)];
    const tk_param *param = &c->contract->params[p];
    /* The last one more often than its share: a hash that leaves something out begins at the front. */
    const int64_t elements = tk_case_elements(c, p);
    int64_t i = (int64_t)tki_random_below(&random, (uint64_t)elements);
    if (tki_random_below(&random, 4) == 0)
        i = elements - 1;
    if (param->kind == TK_KIND_INDEX) {
        int64_t size = c->dims[param->indexed_dim];
        int64_t value = (int64_t)tki_random_below(&random, (uint64_t)size);
        if (value == index_at(c->index_dtype, inputs->data[p], i))
            value = (value + 1) % size;
        set_index(c, inputs->data[p], i, value);
    } else {
        uint16_t *element = (uint16_t *)inputs->data[p] + i;
        uint32_t drawn = tki_round_double(c->dtype, 8 * tki_random_unit(&random) - 4);
        uint16_t value = (uint16_t)(tki_domain_is_normal(c) ? tki_domain_nearest(c->dtype, drawn) : drawn);
        *element = value == *element ? value ^ 0x8000 : value;
    }
    *name = param->name;
    *position = i;
    return true;
}

static tk_status copy_inputs(tk_ctx *ctx, const tk_case *c, const tki_inputs *inputs, tki_inputs *copy)
{
    tk_status status = tki_inputs_alloc(ctx, c, copy);
    for (int p = 0; p < c->contract->param_count && status == TK_OK; p++)
        if (inputs->data[p])
            memcpy(copy->data[p], inputs->data[p], param_bytes(c, p));
    return status;
}

/* A kernel that keeps a result by address, by size, or by a part of its inputs gives it here for inputs that are not the same. */
static tk_status run_changed(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                             tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    tki_inputs changed;
    const char *name;
    int64_t position;
    if (result->failed_clause >= 0 || result->could_not_run)
        return TK_OK;
    tk_status status = copy_inputs(subject->ctx, c, inputs, &changed);
    if (status != TK_OK)
        return status;
    run r;
    /* In half of the trials where the arrays of the call before lay: a kernel may keep by address. */
    tki_setup setup = tki_setup_draw(trial, CALL_CHANGED);
    if (setup.fill_seed[0] & 1)
        memcpy(setup.placement, tki_setup_draw(trial, CALL_SECOND).placement, sizeof setup.placement);
    if (!change_element(trial, &changed, &name, &position) ||
        (status = run_prepare(subject, &r, c, &changed, setup, false, NULL)) != TK_OK) {
        tki_inputs_free(&changed);
        return status;
    }
    status = call(subject, c, &r, NULL, result);
    if (ran(status, result)) {
        double begin = tki_now();
        tki_trial_result second = {.failed_clause = -1};
        check_surroundings(c, &r, &changed, false, &second);
        status = judge_outputs(subject, c, &changed, &r, false, &second.judgement);
        if (status == TK_OK)
            describe_failure(c, &second);
        tki_judgement_add(&result->judgement, &second.judgement);
        if (second.failed_clause >= 0) {
            result->judgement.failure = second.judgement.failure;
            result->only_changed = true;
            fail(result, second.failed_clause, "called again with %s[%lld] changed: %.400s", name,
                 (long long)position, second.reason);
        }
        result->judge_seconds += tki_now() - begin;
    }
    run_free(&r);
    tki_inputs_free(&changed);
    return status;
}

/* The first inputs again, now that others came between: the bits must be those of the first run. */
static tk_status run_repeated(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                              const run *first, int number, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    run again;
    if (result->failed_clause >= 0 || result->could_not_run)
        return TK_OK;
    tk_status status = run_prepare(subject, &again, c, inputs, tki_setup_draw(trial, CALL_REPEATED + number), false,
                                   NULL);
    if (status != TK_OK)
        return status;
    status = call(subject, c, &again, NULL, result);
    if (ran(status, result)) {
        check_surroundings(c, &again, inputs, false, result);
        compare_runs(c, first, &again, result);
    }
    run_free(&again);
    return status;
}

tk_status tki_trial_visit(tki_subject *subject, const tki_trial *trial)
{
    tki_trial visitor = *trial;
    tki_trial_result ignored = {.failed_clause = -1};
    tki_inputs inputs;
    run r;
    visitor.c.dtype = trial->c.dtype == TK_F16 ? TK_BF16 : TK_F16;
    if (tki_trial_calls_seed(trial) / 8 % 2)
        visitor.c.index_dtype = trial->c.index_dtype == TK_I32 ? TK_I64 : TK_I32;
    visitor.family = 0;
    tk_status status = tki_inputs_alloc(subject->ctx, &visitor.c, &inputs);
    if (status != TK_OK)
        return status;
    tki_trial_fill(&visitor, inputs.data);
    status = run_prepare(subject, &r, &visitor.c, &inputs, tki_setup_draw(&visitor, CALL_FIRST), false, NULL);
    if (status == TK_OK) {
        status = call(subject, &visitor.c, &r, NULL, &ignored);
        run_free(&r);
    }
    tki_inputs_free(&inputs);
    return status;
}

/* One small trial in eight. */
static bool has_visitor(const tki_subject *subject, const tki_trial *trial)
{
    return subject->suspicion && output_elements(&trial->c) <= SMALL_TRIAL && trial->family >= 0 &&
           tki_trial_calls_seed(trial) % 8 == 0;
}

tk_status tki_trial_run(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                        tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    bool small = output_elements(c) <= SMALL_TRIAL;
    run first;
    run second;
    *result = (tki_trial_result){.failed_clause = -1, .determinism = TK_BATCH_INVARIANT};
    tk_status status = has_visitor(subject, trial) ? tki_trial_visit(subject, trial) : TK_OK;
    if (status == TK_OK)
        status = run_prepare(subject, &first, c, inputs, tki_setup_draw(trial, CALL_FIRST), false, NULL);
    if (status != TK_OK)
        return status;
    status = run_prepare(subject, &second, c, inputs, tki_setup_draw(trial, CALL_SECOND), false, &first);
    if (status == TK_OK)
        status = call(subject, c, &first, &result->kernel_seconds, result);
    const bool all = subject->observing != TKI_OBSERVE_FIRST;
    if (ran(status, result) && all)
        status = call(subject, c, &second, NULL, result);
    if (ran(status, result) && all) {
        check_surroundings(c, &first, inputs, false, result);
        check_surroundings(c, &second, inputs, false, result);
        compare_runs(c, &first, &second, result);
        static const tk_clause_kind structural[] = {TK_CLAUSE_WRITE, TK_CLAUSE_REPEAT, TK_CLAUSE_SHAPE};
        for (size_t i = 0; i < sizeof structural / sizeof *structural; i++)
            if (tki_clause_find(c->contract, structural[i]) >= 0)
                result->structural[tki_clause_find(c->contract, structural[i])]++;
        status = hash_outputs(c, &first, result);
        double begin = tki_now();
        if (status == TK_OK)
            status = judge_first_run(subject, c, inputs, &first, result);
        result->judge_seconds = tki_now() - begin;
        /* Before any other case comes between, since one that remembers may remember the last call only. */
        if (status == TK_OK && subject->suspicion)
            status = run_changed(subject, trial, inputs, result);
        for (int i = 0; i < subject->suspicion && status == TK_OK; i++)
            status = run_repeated(subject, trial, inputs, &first, i, result);
        if (status == TK_OK && small)
            status = run_in_place(subject, trial, inputs, &first, result);
        if (status == TK_OK && small)
            status = run_part_of_batch(subject, trial, inputs, &first, result);
        keep_stale(subject, c, &first);
    }
    run_free(&first);
    run_free(&second);
    return status;
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
    const char *name;
    int64_t position;
    tk_status status = copy_inputs(subject->ctx, &trial->c, inputs, &changed);
    if (status != TK_OK)
        return status;
    const int suspicion = subject->suspicion;
    subject->suspicion = 0;
    bool fails = false;
    if (change_element(trial, &changed, &name, &position)) {
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
    run again;
    *result = (tki_trial_result){.failed_clause = -1, .determinism = TK_BATCH_INVARIANT};
    tk_status status = run_prepare(subject, &again, c, inputs, tki_setup_draw(trial, CALL_AGAIN), false, NULL);
    if (status != TK_OK)
        return status;
    status = call(subject, c, &again, &result->kernel_seconds, result);
    if (ran(status, result)) {
        check_surroundings(c, &again, inputs, false, result);
        status = hash_outputs(c, &again, result);
        int repeat = tki_clause_find(c->contract, TK_CLAUSE_REPEAT);
        result->structural[repeat]++;
        if (strcmp(result->output_hash, output_hash) != 0) {
            result->determinism = TK_DETERMINISM_NONE;
            fail(result, repeat, "the same inputs gave other bits when they came again after other calls");
        }
    }
    run_free(&again);
    return status;
}

tk_status tki_trial_observe(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs, int threads,
                            int64_t places[TK_MAX_PARAMS], tki_trial_result *result)
{
    enum { PAGE = 4096 };
    run once;
    *result = (tki_trial_result){.failed_clause = -1};
    tki_setup setup = tki_setup_draw(trial, CALL_AGAIN);
    setup.threads = threads;
    tk_status status = run_prepare(subject, &once, &trial->c, inputs, setup, false, NULL);
    if (status != TK_OK)
        return status;
    for (int p = 0; p < trial->c.contract->param_count; p++)
        places[p] = (int64_t)((uintptr_t)once.pointers[p] % PAGE);
    status = call(subject, &trial->c, &once, NULL, result);
    run_free(&once);
    return status;
}

static void check_not_written(const tk_case *c, const run *r, int p, size_t begin, size_t end, int clause,
                              tki_trial_result *result)
{
    if (!tki_fill_intact(&r->fill[p], begin, end - begin, r->buffer[p].data + begin))
        fail(result, clause, "wrote to %s although an index is out of range", c->contract->params[p].name);
}

/* A kernel on the CPU looks at all indices first and then writes nothing. One on a GPU meets a bad index while others are at work: it
 * leaves out what belongs to that index, or everything where an output has no part that does. */
static void check_bad_index_written(const tki_subject *subject, const tk_case *c, const run *r, int index_param,
                                    int64_t position, int clause, tki_trial_result *result)
{
    bool by_rows = subject->executor.staging != NULL;
    int index_dim = c->contract->params[index_param].dim[0];
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (!param->output)
            continue;
        size_t bytes = r->buffer[p].bytes;
        if (!by_rows || param->dim[0] != index_dim || c->dims[index_dim] == 0) {
            check_not_written(c, r, p, 0, bytes, clause, result);
            continue;
        }
        size_t row = bytes / (size_t)c->dims[index_dim];
        check_not_written(c, r, p, (size_t)position * row, ((size_t)position + 1) * row, clause, result);
        check_not_written(c, r, p, bytes - row, bytes, clause, result);
    }
}

tk_status tki_trial_run_bad_index(tki_subject *subject, const tki_trial *trial, tki_inputs *inputs, int64_t position,
                                  int64_t value, tki_trial_result *result)
{
    const tk_case *c = &trial->c;
    int clause = tki_clause_find(c->contract, TK_CLAUSE_INDEX);
    int param = tki_index_param(c->contract);
    int64_t count = tk_case_elements(c, param);
    *result = (tki_trial_result){.failed_clause = -1, .determinism = TK_BATCH_INVARIANT};
    set_index(c, inputs->data[param], position, value);
    set_index(c, inputs->data[param], count - 1, value);
    run r;
    tk_status status = run_prepare(subject, &r, c, inputs, tki_setup_draw(trial, CALL_FIRST), false, NULL);
    if (status != TK_OK)
        return status;
    tk_status answer = tki_executor_call(&subject->executor, c, r.pointers, NULL);
    const tki_fault fault = subject->ctx->fault;
    char named[64];
    snprintf(named, sizeof named, "%s[%lld]", c->contract->params[param].name, (long long)position);
    if (answer != TK_BAD_INDEX)
        fail(result, clause, "%s = %lld was not refused", named, (long long)value);
    else if (fault.kind != TKI_FAULT_INDEX || fault.tensor != param || fault.offset != position)
        fail(result, clause, "the refusal does not name %s: %s", named, tk_ctx_message(subject->ctx));
    check_bad_index_written(subject, c, &r, param, position, clause, result);
    check_overrun(subject, c, result);
    check_surroundings(c, &r, inputs, false, result);
    result->structural[clause] = 1;
    run_free(&r);
    return TK_OK;
}
