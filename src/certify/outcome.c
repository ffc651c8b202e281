/* RECORDS. The outcome of a certification grows by the results of its trials. */
#include "certify/outcome.h"

#include <stdio.h>
#include <string.h>

#include "certify/subject.h"
#include "core/context.h"
#include "exact/round.h"
#include "judge/judge_exact.h"
#include "kernel_file/kernel_file.h"
#include "kernel_file/source_uses.h"
#include "trials/families.h"

static void note_worst(tki_outcome *o, const tki_trial *trial, const tki_inputs *inputs, const tki_trial_result *r)
{
    const tki_element *worst = &r->judgement.worst;
    bool worse = worst->present && (!o->judgement.worst.present || worst->ulps > o->judgement.worst.ulps);
    if (!worse)
        return;
    o->judgement.worst = *worst;
    o->worst_trial = *trial;
    o->worst_inputs_known = trial->c.contract->elementwise && !r->worst_changed;
    for (int p = 0; p < trial->c.contract->param_count && o->worst_inputs_known; p++)
        if (inputs->data[p])
            o->worst_inputs[p] = tki_pattern_at(tk_case_param_dtype(&trial->c, p), inputs->data[p], worst->index);
}

void tki_outcome_add(tki_outcome *o, const tki_trial *trial, const tki_inputs *inputs, const tki_trial_result *r)
{
    note_worst(o, trial, inputs, r);
    if (r->judgement.unbounded.present && !o->judgement.unbounded.present) {
        o->judgement.unbounded = r->judgement.unbounded;
        o->unbounded_trial = *trial;
    }
    tki_judgement_add(&o->judgement, &r->judgement);
    for (int i = 0; i < TK_MAX_CLAUSES; i++)
        o->structural[i] += r->structural[i];
    if (r->determinism < o->determinism)
        o->determinism = r->determinism;
    o->batch_checked |= r->batch_checked;
    o->skipped.slices += r->left_out.slices;
    o->skipped.all_slices += r->left_out.all_slices;
    o->skipped.parts += r->left_out.parts;
    o->skipped.all_parts += r->left_out.all_parts;
    if (r->screened_by) {
        o->screened_by_least = o->screened++ && o->screened_by_least < r->screened_by ? o->screened_by_least
                                                                                      : r->screened_by;
        o->screened_by_most = o->screened_by_most > r->screened_by ? o->screened_by_most : r->screened_by;
    }
    o->kernel_seconds += r->kernel_seconds;
    o->judge_seconds += r->judge_seconds;
}

void tki_outcome_count_failed(tki_outcome *o, const tki_trial_result *r)
{
    if (r->failed_clause < 0)
        return;
    tki_judgement_add(&o->failing, &r->judgement);
    o->failed_trials++;
}

void tki_outcome_record(tki_outcome *o, const tki_trial *trial, const tki_trial_result *r)
{
    tki_trial_record *domain = o->domain;
    if (domain && trial->family == TKI_ALL_PATTERNS) {
        char both[2 * TKI_HASH_HEX];
        snprintf(both, sizeof both, "%s%s", domain->output_hash, r->output_hash);
        tki_hash_bytes(both, strlen(both), domain->output_hash);
        domain->repeats++;
        domain->elements += r->judgement.elements;
        return;
    }
    tki_trial_record *record = &o->trials[o->trial_count++];
    *record = (tki_trial_record){.trial = *trial, .repeats = 1, .elements = r->judgement.elements};
    memcpy(record->output_hash, r->output_hash, sizeof record->output_hash);
    if (trial->family == TKI_ALL_PATTERNS)
        o->domain = record;
}

static void set_cause(tki_outcome *o, const tki_trial_result *r)
{
    o->cause = (tki_cause){.kind = TKI_CAUSE_TRIAL, .finding = r->finding};
    memcpy(o->cause.words, r->words, sizeof o->cause.words);
}

void tki_outcome_refute(tki_outcome *o, const tki_trial *trial, const tki_trial_result *r)
{
    o->verdict = TK_REFUTED;
    o->failed_clause = r->failed_clause;
    o->refuted[r->failed_clause] = true;
    o->failed_trial = *trial;
    o->judgement.failure = r->judgement.failure;
    o->fault = r->fault;
    set_cause(o, r);
}

void tki_outcome_leave_open(tki_outcome *o, const tki_trial_result *r)
{
    o->verdict = TK_UNKNOWN;
    o->fault = r->fault;
    set_cause(o, r);
}

void tki_outcome_conclude(tki_outcome *o, int64_t trials)
{
    if (o->out_of_time && o->verdict != TK_REFUTED) {
        const bool all = o->tried >= trials; /* coverage may have found more */
        o->verdict = TK_UNKNOWN;
        o->cause = (tki_cause){.kind = TKI_CAUSE_TIME, .tried = all ? trials : o->tried, .of_trials = trials};
    }
    if (o->verdict != TK_HELD)
        return;
    if (o->judgement.elements == 0) {
        o->verdict = TK_UNKNOWN;
        o->cause = (tki_cause){.kind = TKI_CAUSE_EMPTY};
        return;
    }
    if (o->judgement.undefined > 0) {
        o->verdict = TK_UNKNOWN;
        o->cause = (tki_cause){.kind = TKI_CAUSE_NO_BOUND};
        return;
    }
    const tk_kernel_file *kernel = o->kind->is_kernel_file ? o->options->kernel_file : NULL;
    const unsigned telling = kernel && kernel->library_alone ? TKI_USES_OF_BUILD : TKI_USES_TELLING;
    if (kernel && kernel->uses & telling && !kernel->is_library) {
        o->verdict = TK_UNKNOWN;
        o->cause = (tki_cause){.kind = TKI_CAUSE_DEPENDS};
        return;
    }
    for (int i = 0; i < o->contract->clause_count && o->domain; i++)
        o->proved[i] = o->judgement.judged[i] > 0 && o->judgement.undecided == 0;
    if (o->domain && o->judgement.undecided == 0)
        o->verdict = TK_PROVED;
}

bool tki_outcome_is_out_of_time(tki_outcome *o, const tk_ctx *ctx)
{
    o->out_of_time |= tki_ctx_out_of_time(ctx);
    return o->out_of_time;
}

void tki_outcome_report(const tki_outcome *o, double done, const char *what)
{
    if (o->options->progress)
        o->options->progress(done, what, o->options->progress_data);
}

_Static_assert((int)TKI_OUTPUT_HASH == TKI_HASH_HEX, "a trial has room for it");

/* All NaNs hash as one pattern. No loop has a call in it, since an exhaustive run passes billions through it. */
static void canonicalise(tk_dtype dtype, unsigned char *block, int64_t count)
{
    const tki_format f = tki_format_of(dtype);
    const uint32_t last = tki_last_of(f);
    if (f.number != TKI_FLOATING)
        return;
    if (f.bits == 16) {
        uint16_t *elements = (uint16_t *)(void *)block;
        const uint16_t canonical = (uint16_t)f.nan;
        for (int64_t i = 0; i < count; i++)
            elements[i] = (elements[i] & 0x7fff) > last ? canonical : elements[i];
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = tki_element_bits(dtype, block, i);
        tki_put_bits(dtype, block, i, tki_magnitude_of(f, bits) > last ? f.nan : bits);
    }
}

tk_status tki_outputs_hash(const tk_case *c, const void *const tensors[], char hash_text[TKI_HASH_HEX])
{
    tki_hash hash;
    tki_hash_begin(&hash);
    for (int p = 0; p < c->contract->param_count; p++) {
        if (!c->contract->params[p].output)
            continue;
        tk_dtype dtype = tk_case_param_dtype(c, p);
        size_t bytes = tki_param_bytes(c, p);
        _Alignas(4) unsigned char block[1 << 14];
        for (size_t begin = 0; begin < bytes; begin += sizeof block) {
            size_t part = bytes - begin < sizeof block ? bytes - begin : sizeof block;
            memcpy(block, (const char *)tensors[p] + begin, part);
            canonicalise(dtype, block, (int64_t)(part / tk_dtype_size(dtype)));
            tki_hash_add(&hash, block, part);
        }
    }
    return tki_hash_finish(&hash, hash_text) ? TK_OK : TK_INTERNAL;
}
