/* DECIDES. One call of a kernel in buffers of its own, and what it did to memory. */
#include "judge/guarded_run.h"

#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "exact/floats.h"
#include "exact/round.h"
#include "judge/trial_memory.h"
#include "model/case.h"

void tki_run_free(tki_run *r)
{
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        tki_guard_free(&r->buffer[p]);
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
            fill.source_bytes = tki_param_bytes(c, q);
        }
    return fill;
}

/* Is it an output that works in place? The input whose buffer it may share can be one that is not there. */
static bool shares(const tk_case *c, int p)
{
    const tk_param *param = &c->contract->params[p];
    return param->output && param->may_alias >= 0 && tk_case_has(c, p) && tk_case_has(c, param->may_alias);
}

tk_status tki_run_prepare(tki_subject *subject, tki_run *r, const tk_case *c, const tki_inputs *inputs,
                          tki_setup setup, bool in_place, const tki_run *unlike)
{
    *r = (tki_run){.setup = setup};
    for (int p = 0; p < c->contract->param_count; p++) {
        size_t bytes = tki_param_bytes(c, p);
        size_t element = tk_dtype_size(tk_case_param_dtype(c, p));
        bool allocated = subject->caller->copies
                             ? tki_guard_alloc_plain(&r->buffer[p], setup.placement[p], bytes, element)
                             : tki_guard_alloc(&r->buffer[p], setup.placement[p], bytes, element);
        if (!allocated) {
            tki_run_free(r);
            return TKI_FAIL_BY(subject->ctx, TKI_FAILED_BUFFER_MEMORY, .status = TK_NO_MEMORY, .bytes = bytes);
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
        if (shares(c, p))
            r->pointers[p] = r->pointers[c->contract->params[p].may_alias];
    return TK_OK;
}

void tki_run_keep_stale(tki_subject *subject, const tk_case *c, const tki_run *r)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        size_t bytes = tki_param_bytes(c, p);
        if (!c->contract->params[p].output || !bytes)
            continue;
        subject->stale_bytes[p] = bytes < sizeof subject->stale[p] ? bytes : sizeof subject->stale[p];
        memcpy(subject->stale[p], r->pointers[p], subject->stale_bytes[p]);
    }
}

void tki_trial_fail(tki_trial_result *result, int clause, tki_finding finding)
{
    if (result->failed_clause >= 0 || result->clause_missing)
        return;
    result->failed_clause = clause;
    result->clause_missing = clause < 0;
    result->finding = finding;
}

void tki_run_check_surroundings(const tk_case *c, const tki_run *r, const tki_inputs *inputs, bool in_place,
                                tki_trial_result *result)
{
    int write = tki_clause_find(c->contract, TK_CLAUSE_WRITE);
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        int64_t offset;
        if (!tki_guard_intact(&r->buffer[p], &offset))
            tki_trial_fail(
                result, write,
                (tki_finding){
                    .kind = TKI_FOUND_WRITTEN_OUTSIDE, .param = p, .at = offset, .seen = {r->buffer[p].bytes}});
        bool overwritten = false;
        for (int q = 0; q < c->contract->param_count && in_place; q++)
            overwritten |= shares(c, q) && c->contract->params[q].may_alias == p;
        if (!param->output && !overwritten && r->buffer[p].bytes &&
            memcmp(r->buffer[p].data, inputs->data[p], r->buffer[p].bytes) != 0)
            tki_trial_fail(result, write, (tki_finding){.kind = TKI_FOUND_INPUT_CHANGED, .param = p});
    }
}

void tki_trial_keep_words(tki_trial_result *result, const tk_ctx *ctx)
{
    snprintf(result->words, sizeof result->words, "%.*s", (int)sizeof result->words - 1, ctx->message);
}

/* A failure that is known as a fault; of several the first counts. `ctx`: it has the words of the call; NULL: there are none. */
static void fail_by(tki_trial_result *result, const tk_case *c, const tki_fault *fault, const tk_ctx *ctx)
{
    if (result->failed_clause >= 0 || result->clause_missing)
        return;
    int clause = tki_clause_find(c->contract, tki_fault_clause(fault));
    result->fault = *fault;
    if (ctx)
        tki_trial_keep_words(result, ctx);
    tki_trial_fail(result, clause >= 0 ? clause : tki_clause_find(c->contract, TK_CLAUSE_SHAPE),
                   (tki_finding){.kind = ctx ? TKI_FOUND_WORDS : TKI_FOUND_FAULT});
}

void tki_run_check_overrun(const tki_subject *subject, const tk_case *c, tki_trial_result *result)
{
    const tki_overrun *overrun = &subject->caller->overrun;
    const int p = overrun->param;
    if (p >= 0)
        fail_by(result, c,
                &(tki_fault){.kind = TKI_FAULT_OVERRUN,
                             .tensor = p,
                             .offset = overrun->offset,
                             .bytes = (int64_t)tki_param_bytes(c, p),
                             .wrote = true},
                NULL);
    if (overrun->left.kind != TKI_FAULT_NONE)
        fail_by(result, c, &overrun->left, NULL);
}

static bool still_filled(const tki_run *r, int p, size_t element, int64_t i)
{
    return tki_fill_intact(&r->fill[p], (size_t)i * element, element,
                           (const unsigned char *)r->pointers[p] + (size_t)i * element);
}

void tki_runs_compare(const tk_case *c, const tki_run *a, const tki_run *b, tki_trial_result *result)
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
            if (tki_same_elements(dtype, a->pointers[p], b->pointers[p], i))
                continue;
            if (still_filled(a, p, element, i) && still_filled(b, p, element, i)) {
                tki_trial_fail(result, write, (tki_finding){.kind = TKI_FOUND_UNWRITTEN, .param = p, .at = i});
            } else {
                tki_finding finding = {.kind = TKI_FOUND_OTHER_BITS, .param = p, .at = i};
                result->determinism = TK_DETERMINISM_NONE;
                memcpy(&finding.seen[0], (const char *)a->pointers[p] + (size_t)i * element, element);
                memcpy(&finding.seen[1], (const char *)b->pointers[p] + (size_t)i * element, element);
                tki_trial_fail(result, repeat, finding);
            }
            return;
        }
    }
}

bool tki_run_ended(tk_status status, const tki_trial_result *result)
{
    return status == TK_OK && !result->could_not_run && !result->faulted && !result->clause_missing;
}

static tk_status call(tki_subject *subject, const tk_case *c, tki_run *r, double *seconds)
{
    return subject->caller->call(subject->caller, c, r->pointers, r->setup.threads, seconds);
}

/* The process was killed from outside, which says nothing about the kernel, unless the call ends so once more in a fresh
 * process although there is memory: then it is the one that eats it. The buffers are as they were, since a worker has
 * copies. */
static tk_status call_once_more(tki_subject *subject, const tk_case *c, tki_run *r, double *seconds)
{
    char first[sizeof subject->ctx->message];
    const double free_gib = tki_free_gib();
    const bool tried = free_gib <= 0 || free_gib >= 2 * tki_case_gib(c, true);
    snprintf(first, sizeof first, "%s", subject->ctx->message);
    tk_status status = tried ? call(subject, c, r, seconds) : TK_OK;
    if (status != TK_OK)
        return status;
    return TKI_FAIL_BY(subject->ctx, TKI_FAILED_KILLED, .status = TK_UNAVAILABLE, .words = first, .again = tried);
}

void tki_trial_could_not(tki_trial_result *result, tk_status status, const tk_ctx *ctx)
{
    result->could_not_run = true;
    result->fault = ctx->fault;
    result->timed_out = status == TK_TIMEOUT;
    result->finding = (tki_finding){.kind = TKI_FOUND_WORDS};
    tki_trial_keep_words(result, ctx);
}

tk_status tki_run_call(tki_subject *subject, const tk_case *c, tki_run *r, double *seconds, tki_trial_result *result)
{
    const tki_floats floats = tki_floats_begin();
    tk_status status = call(subject, c, r, seconds);
    if (status == TK_KERNEL_FAULT && subject->ctx->fault.killed)
        status = call_once_more(subject, c, r, seconds);
    tki_floats_end(&floats);
    tki_run_check_overrun(subject, c, result);
    if (status == TK_OK || status == TK_NO_MEMORY)
        return status;
    if (status == TK_KERNEL_FAULT) {
        result->faulted = true;
        fail_by(result, c, &subject->ctx->fault, subject->ctx);
        return TK_OK;
    }
    tki_trial_could_not(result, status, subject->ctx);
    return TK_OK;
}
