/* RECORDS. An outcome written down as an in-toto Statement. Here are the values of its members; which of them a kind of subject has, and which no
 * certificate may lack, is in member_table.c, along which the statement is made. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/cause.h"
#include "certify/certificate.h"
#include "certify/claims.h"
#include "certify/headline.h"
#include "certify/magnitudes.h"
#include "certify/member_walk.h"
#include "certify/missed_lines.h"
#include "certify/outcome.h"
#include "certify/proofs.h"
#include "certify/refutation.h"
#include "certify/reproduce.h"
#include "certify/subject.h"
#include "core/float_mode.h"
#include "core/hash.h"
#include "core/context.h"
#include "core/escape.h"
#include "core/limits.h"
#include "exact/round.h"
#include "isolate/confinement.h"
#include "judge/program_oracle.h"
#include "kernel_file/kernel_file.h"
#include "kernel_file/source_uses.h"
#include "model/attributes.h"
#include "model/case.h"
#include "trials/attribute_settings.h"
#include "trials/op_registry.h"

json_t *tki_real_json(double value)
{
    return isfinite(value) ? json_real(value)
                           : json_string(isnan(value) ? "nan"
                                         : value > 0  ? "infinity"
                                                      : "-infinity");
}

json_t *tki_histogram_json(const int64_t histogram[TKI_ULP_BINS])
{
    json_t *bins = json_array();
    for (int i = 0; i < TKI_ULP_BINS; i++)
        json_array_append_new(bins, json_pack("{s:o, s:I}", "up_to_ulp",
                                              tki_real_json(i < TKI_ULP_BINS - 1 ? tki_ulp_bin_ends[i] : INFINITY),
                                              "elements", (json_int_t)histogram[i]));
    return bins;
}

static json_t *bits(tk_dtype dtype, uint64_t pattern)
{
    const uint64_t own = pattern & (uint64_t)tki_last_pattern(dtype); /* a negative integer comes sign-extended */
    return json_sprintf("0x%0*llx", tki_format_of(dtype).bits / 4, (unsigned long long)own);
}

static bool is_number(tk_dtype dtype, uint64_t pattern)
{
    return tki_format_of(dtype).number != TKI_FLOATING || !isnan(tki_decode(dtype, (uint32_t)pattern));
}

json_t *tki_element_json(tk_dtype dtype, uint64_t pattern)
{
    const tki_number number = tki_format_of(dtype).number;
    if (number != TKI_FLOATING)
        return number == TKI_SIGNED ? json_integer((json_int_t)pattern) : json_real((double)pattern);
    return tki_real_json(tki_decode(dtype, (uint32_t)pattern));
}

static json_t *dims_json(const tk_case *c)
{
    json_t *dims = json_object();
    for (int d = 0; d < c->contract->dim_count; d++)
        json_object_set_new(dims, c->contract->dim_names[d], json_integer(c->dims[d]));
    return dims;
}

static json_t *value_json(const tk_attribute *attribute, tk_value value)
{
    switch (attribute->type) {
    case TK_ATTRIBUTE_REAL: return tki_real_json(value.real);
    case TK_ATTRIBUTE_INTEGER: return json_integer(value.integer);
    case TK_ATTRIBUTE_CHOICE: break;
    }
    return json_string(attribute->choices[value.integer].id);
}

/* The attributes that kernels see; NULL if there are none. */
static json_t *options_json(const tk_contract *contract, const tk_value *attributes)
{
    json_t *options = tki_seen_attributes(contract) ? json_object() : NULL;
    for (int i = 0; i < contract->attribute_count; i++) {
        const tk_attribute *attribute = &contract->attributes[i];
        if (!attribute->seen_by_kernel)
            continue;
        json_object_set_new(options, attribute->name, value_json(attribute, attributes[i]));
    }
    return options;
}

/* What all calls have in common; 0 where it is drawn for each. */
static void set_call_restrictions(json_t *json, int threads, int alignment)
{
    json_object_set_new(json, "threads", threads ? json_integer(threads) : NULL);
    json_object_set_new(json, "alignment", alignment ? json_integer(alignment) : NULL);
}

static void set_planted(json_t *json, const int64_t *values, int count)
{
    json_t *list = count ? json_array() : NULL;
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_integer((json_int_t)values[i]));
    json_object_set_new(json, "planted", list);
}

json_t *tki_trial_json(const tki_trial *trial)
{
    json_t *json = json_pack("{s:s, s:o}", "family", tki_trial_family_name(trial), "shape", dims_json(&trial->c));
    json_object_set_new(json, "options", options_json(trial->c.contract, trial->c.attributes));
    set_call_restrictions(json, trial->threads, trial->alignment);
    json_object_set_new(json, "found_by", trial->found ? json_string("coverage") : NULL);
    json_object_set_new(json, "seed", trial->family >= 0 ? json_integer((json_int_t)trial->seed) : NULL);
    if (trial->family >= 0)
        set_planted(json, trial->planted, trial->planted_count);
    return json;
}

static json_t *given_inputs_json(const tk_certify_options *options)
{
    json_t *inputs = json_object();
    for (int i = 0; i < options->input_count; i++) {
        json_t *values = json_array();
        for (int64_t k = 0; k < options->inputs[i].count; k++)
            json_array_append_new(values, json_integer((json_int_t)options->inputs[i].bits[k]));
        json_object_set_new(inputs, options->inputs[i].name, values);
    }
    return inputs;
}

json_t *tki_text_json(const char *text)
{
    char *copy = text ? tki_utf8(text) : NULL;
    json_t *string = copy ? json_string(copy) : NULL;
    free(copy);
    return string;
}

static json_t *limit_json(const tki_confinement *confinement, tki_by by)
{
    const int64_t number = tki_confinement_limit(confinement, by);
    return number > 0 ? json_integer(number) : json_string("not limited");
}

/* What was in force, by the word of the process that was shut in; NULL: nothing. */
static json_t *limits_json(const tki_outcome *o)
{
    const tk_kernel_file *kernel = o->kind->is_kernel_file ? o->options->kernel_file : NULL;
    const tki_confinement *confinement = o->confinement.count || !kernel ? &o->confinement
                                                                         : &kernel->build.confinement;
    const tk_limits limits = kernel ? tki_limits_of(&kernel->terms.limits) : (tk_limits){0};
    if (!kernel && o->total_seconds <= 0)
        return NULL;
    return json_pack("{s:o*, s:o*, s:o*, s:o*, s:o*}", "total_seconds",
                     o->total_seconds > 0 ? tki_real_json(o->total_seconds) : NULL, "output_bytes",
                     kernel ? json_integer(limits.output_bytes) : NULL, "folder_depth",
                     kernel ? json_integer(limits.folder_depth) : NULL, "memory_bytes",
                     confinement->count ? limit_json(confinement, TKI_BY_MEMORY) : NULL, "tasks",
                     confinement->count ? limit_json(confinement, TKI_BY_TASKS) : NULL);
}

/* The attributes that kernels do not see, where they are not at their defaults; of results that may be too large for 8 bits `overflow` in
 * any case. */
static void set_attributes(const tki_outcome *o, json_t *run)
{
    json_t *attributes = json_object();
    const tk_case c = tki_outcome_case(o);
    for (int i = 0; i < o->contract->attribute_count; i++) {
        const tk_attribute *attribute = &o->contract->attributes[i];
        if ((attribute->role == TK_ROLE_OVERFLOW && tki_case_may_saturate(&c)) ||
            (!attribute->seen_by_kernel && o->attributes[i].integer != attribute->initial.integer))
            json_object_set_new(attributes, attribute->name, value_json(attribute, o->attributes[i]));
    }
    if (json_object_size(attributes))
        json_object_set(run, "attributes", attributes);
    json_decref(attributes);
}

/* What only the run itself knows of compute-sanitizer: why it did not watch, where it should have or could have. */
static json_t *no_sanitizer_json(const tki_outcome *o)
{
    const tki_sanitized *s = &o->sanitized;
    if (!o->backend->is_gpu || (s->wanted && s->here))
        return NULL;
    return json_string(!o->backend->has_sanitizer ? "compute-sanitizer supports CUDA only"
                       : !s->wanted               ? "compute-sanitizer was not requested"
                       : !s->ran                  ? "the run ended before that"
                                                  : "compute-sanitizer was not found");
}

/* By what trials the mutants were judged, and when, if it was not now; NULL: none were. */
static json_t *mutants_run_json(const tki_mutants *mutants)
{
    if (!mutants->count)
        return NULL;
    return json_pack("{s:I, s:s*, s:s*}", "seed", (json_int_t)mutants->seed, "build",
                     mutants->build[0] ? mutants->build : NULL, "kept", mutants->kept[0] ? mutants->kept : NULL);
}

static json_t *tensor_types_json(const tki_outcome *o)
{
    const tk_case c = tki_outcome_case(o);
    json_t *types = json_object();
    for (int p = 0; p < o->contract->param_count; p++)
        json_object_set_new(types, o->contract->params[p].name,
                            json_string(tk_dtype_name(tk_case_param_dtype(&c, p))));
    return types;
}

/* What was run, in enough detail to run it again. */
static json_t *run_json(const tki_outcome *o)
{
    char types[TKI_TYPES_TEXT];
    tki_outcome_types(o, types);
    json_t *run = json_pack("{s:s, s:s, s:s, s:s, s:s}", "op", o->contract->name, "dtype", types, "kind",
                            o->kind->name, "subject", o->subject, "level",
                            o->given ? "given" : tk_level_name(o->level));
    const tk_certify_options *options = o->options;
    const bool gives_options = tki_settings_give_seen(o->contract, options) || o->given;
    set_attributes(o, run);
    o->kind->describe(o, run);
    set_call_restrictions(run, options->call_threads, options->alignment);
    set_planted(run, options->planted, options->planted_count);
    if (options->dims) {
        tk_case c = {.contract = o->contract};
        memcpy(c.dims, options->dims, (size_t)o->contract->dim_count * sizeof *c.dims);
        json_object_set_new(run, "shape", dims_json(&c));
    }
    json_object_set_new(run, "seed", json_integer((json_int_t)options->seed));
    if (tk_contract_takes_index(o->contract))
        json_object_set_new(run, "index_dtype", json_string(tk_dtype_name(o->index_dtype)));
    json_object_set_new(run, "tensor_types", tensor_types_json(o));
    json_object_set_new(run, "limits", limits_json(o));
    json_object_set_new(run, "coverage", options->skip_coverage ? json_false() : NULL);
    json_object_set_new(run, "family", options->family ? json_string(options->family) : NULL);
    json_object_set_new(run, "options", gives_options ? options_json(o->contract, o->attributes) : NULL);
    json_object_set_new(run, "inputs", options->input_count ? given_inputs_json(options) : NULL);
    json_object_set_new(run, "keep_going", options->keep_going ? json_true() : NULL);
    json_object_set_new(run, "constants", o->glances ? json_integer(o->glances) : NULL);
    json_object_set_new(run, "came_late", o->came_late ? json_integer(o->came_late) : NULL);
    json_object_set_new(run, "came_again", o->came_again ? json_integer(o->came_again) : NULL);
    if (o->left_out)
        json_object_set_new(
            run, "left_out",
            json_pack("{s:i, s:o}", "trials", o->left_out, "least_gib", tki_real_json(o->left_out_gib)));
    json_object_set_new(run, "no_sanitizer", no_sanitizer_json(o));
    json_object_set_new(run, "mutants", mutants_run_json(&o->mutants));
    json_t *trials = json_array();
    for (int64_t i = 0; i < o->trial_count; i++) {
        json_t *trial = tki_trial_json(&o->trials[i].trial);
        json_object_set_new(trial, "elements", json_integer(o->trials[i].elements));
        json_object_set_new(trial, "output_sha256", json_string(o->trials[i].output_hash));
        json_object_set_new(trial, "chunks", o->trials[i].repeats > 1 ? json_integer(o->trials[i].repeats) : NULL);
        json_array_append_new(trials, trial);
    }
    json_object_set_new(run, "trials", trials);
    return run;
}

static const char *clause_verdict(const tki_outcome *o, int i)
{
    if (o->judgement.failed[i] > 0 || o->refuted[i])
        return tk_verdict_name(TK_REFUTED);
    if (o->judgement.judged[i] + o->structural[i] == 0)
        return "NOT JUDGED";
    return tk_verdict_name(o->proved[i] ? TK_PROVED : TK_HELD);
}

static json_t *clauses_json(const tki_outcome *o)
{
    json_t *clauses = json_array();
    for (int i = 0; i < o->contract->clause_count; i++)
        json_array_append_new(
            clauses, json_pack("{s:s, s:s, s:s, s:I, s:I}", "id", o->contract->clauses[i].id, "text",
                               o->contract->clauses[i].text, "verdict", clause_verdict(o, i), "checks",
                               (json_int_t)(o->judgement.judged[i] + o->structural[i]), "failures",
                               (json_int_t)(o->judgement.failed[i] ? o->judgement.failed[i] : o->refuted[i])));
    return clauses;
}

static json_t *element_json(const tki_outcome *o, const tki_element *e, const tki_trial *trial)
{
    const tk_case c = tki_outcome_case(o);
    const tk_dtype dtype = tk_case_param_dtype(&c, e->output);
    json_t *json = json_pack("{s:s, s:I, s:o, s:o, s:o, s:s}", "output", o->contract->params[e->output].name, "index",
                             (json_int_t)e->index, "got_bits", bits(dtype, e->got), "got",
                             tki_element_json(dtype, e->got), "error_ulp", tki_real_json(e->ulps), "clause",
                             o->contract->clauses[e->clause].id);
    if (tki_place_of(e) != TKI_ORDINARY && is_number(dtype, e->got))
        json_object_set_new(json, "where",
                            json_string(tki_place_of(e) == TKI_NEAR_ZERO ? "near_zero" : "at_overflow"));
    json_object_set_new(json, "trial", tki_trial_json(trial));
    if (!e->interval)
        return json;
    json_object_set_new(json, "exact", tki_real_json(e->exact));
    json_object_set_new(json, "bound", tki_real_json(e->bound));
    json_object_set_new(json, "bound_used", tki_real_json(e->bound_used));
    json_object_set_new(json, "admissible",
                        json_pack("[o, o]", tki_real_json(tki_decode_end(dtype, e->lo_bits)),
                                  tki_real_json(tki_decode_end(dtype, e->hi_bits))));
    return json;
}

static json_t *worst_json(const tki_outcome *o)
{
    json_t *worst = element_json(o, &o->judgement.worst, &o->worst_trial);
    if (o->worst_inputs_known) {
        json_t *inputs = json_object();
        for (int p = 0; p < o->contract->param_count; p++)
            if (!o->contract->params[p].output)
                json_object_set_new(inputs, o->contract->params[p].name,
                                    bits(tk_case_param_dtype(&o->worst_trial.c, p), o->worst_inputs[p]));
        json_object_set_new(worst, "input_bits", inputs);
    }
    const bool in_chunks = o->worst_trial.family == TKI_ALL_PATTERNS;
    json_object_set_new(worst, "chunk", in_chunks ? json_integer(o->worst_trial.chunk) : NULL);
    return worst;
}

/* The level that was seen; only a promise of equal bits on every backend reaches further than one machine can see. */
static const char *determinism_reached(const tki_outcome *o)
{
    if (o->determinism < TK_RUN_TO_RUN || !o->trial_count)
        return tk_determinism_name(TK_DETERMINISM_NONE);
    bool bits_held = o->lowering && o->lowering->determinism == TK_CROSS_DEVICE && o->failed_clause < 0;
    if (bits_held)
        return tk_determinism_name(TK_CROSS_DEVICE);
    return tk_determinism_name(o->batch_checked && o->determinism >= TK_BATCH_INVARIANT ? TK_BATCH_INVARIANT
                                                                                        : TK_RUN_TO_RUN);
}

/* Terms that the kernel left out by its own count, and the theorems by which it may; NULL: it is none of those that do. */
static json_t *skipped_json(const tki_outcome *o)
{
    char hash[TKI_HASH_HEX];
    const char *const *by = o->lowering ? o->lowering->leaves_out_by : NULL;
    const tki_theorem *theorem = by && by[0] ? tki_theorem_find(by[0], by[1]) : NULL;
    if (!o->trial_count || !theorem || !tki_theorem_hash(theorem, hash))
        return NULL;
    return json_pack("{s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:s}", "slices", (json_int_t)o->skipped.slices, "of_slices",
                     (json_int_t)o->skipped.all_slices, "parts", (json_int_t)o->skipped.parts, "of_parts",
                     (json_int_t)o->skipped.all_parts, "slices_by", by[1], "parts_by", by[2], "file", by[0], "sha256",
                     hash);
}

static json_t *result_json(const tki_outcome *o)
{
    const tki_judgement *j = &o->judgement;
    json_t *result = json_pack("{s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:s, s:o, s:o, s:o}", "elements",
                               (json_int_t)j->elements, "ulp_histogram", tki_histogram_json(j->histogram),
                               "worst_ulp", tki_real_json(j->worst.present ? j->worst.ulps : 0), "bound_used",
                               tki_real_json(j->bound_used), "absolute_error", tki_real_json(j->absolute_error),
                               "refined", (json_int_t)j->refined, "undecided", (json_int_t)j->undecided, "undefined",
                               (json_int_t)j->undefined, "determinism", determinism_reached(o), "kernel_seconds",
                               tki_real_json(o->kernel_seconds), "judge_seconds", tki_real_json(o->judge_seconds),
                               "seconds", tki_real_json(o->seconds));
    for (int p = 0; p < o->contract->param_count; p++)
        if (o->contract->params[p].sums_to != 0)
            json_object_set_new(result, "row_sum_error", tki_real_json(j->row_sum_error));
    json_object_set_new(result, "accepted",
                        json_pack("{s:o, s:I, s:I}", "worst_ulp", tki_real_json(j->accepted_ulps), "near_zero",
                                  (json_int_t)j->near_zero, "at_overflow", (json_int_t)j->at_overflow));
    const tk_case c = tki_outcome_case(o);
    json_object_set_new(result, "by_magnitude", tki_magnitudes_json(&c, j->magnitudes));
    if (o->screened)
        json_object_set_new(result, "screened",
                            json_pack("{s:I, s:i, s:i}", "trials", (json_int_t)o->screened, "least_vectors",
                                      o->screened_by_least, "most_vectors", o->screened_by_most));
    json_object_set_new(result, "skipped", skipped_json(o));
    json_object_set_new(result, "refutation", o->verdict == TK_REFUTED ? tki_refutation_json(o) : NULL);
    json_object_set_new(result, "worst", j->worst.present ? worst_json(o) : NULL);
    if (o->verdict == TK_REFUTED && j->failure.present) {
        json_t *failure = element_json(o, &j->failure, &o->failed_trial);
        tki_cause_set_refused(failure, &j->failure);
        json_object_set_new(result, "failure", failure);
    }
    if (o->verdict != TK_HELD && o->verdict != TK_PROVED && o->fault.kind != TKI_FAULT_NONE)
        json_object_set_new(result, "fault", tki_fault_json(&o->fault, o->contract));
    return result;
}

static json_t *mutants_json(const tki_outcome *o)
{
    json_t *mutants = json_array();
    for (int i = 0; i < o->mutants.count; i++) {
        const tki_mutant_record *m = &o->mutants.list[i];
        json_array_append_new(mutants, json_pack("{s:s, s:s, s:b, s:s*}", "name", m->mutant->name, "what",
                                                 m->mutant->what, "rejected", m->rejected, "clause",
                                                 m->rejected ? o->contract->clauses[m->clause].id : NULL));
    }
    return mutants;
}

static json_t *uses_json(unsigned uses)
{
    json_t *list = json_array();
    for (int i = 0; i < TKI_USES; i++)
        if (uses >> i & 1)
            json_array_append_new(list, json_string(tki_use_name((tki_use)i)));
    return list;
}

static json_t *built_json(const tki_provenance *p)
{
    json_t *built = json_pack("{s:s, s:s}", "artifact", p->artifact_path, "artifact_sha256", p->artifact_hash);
    if (p->source) {
        json_object_set_new(built, "source", tki_text_json(p->source));
        json_object_set_new(built, "source_sha256", json_string(p->source_hash));
        json_object_set_new(built, "compiler", json_string(p->compiler));
        json_object_set_new(built, "options", tki_text_json(p->options));
    }
    json_object_set_new(built, "text_sha256", p->text_hash[0] ? json_string(p->text_hash) : NULL);
    json_object_set_new(built, "depends_on", p->uses ? uses_json(p->uses) : NULL);
    if (p->on_gpu && p->kernel_count) {
        json_t *kernels = json_array();
        for (int i = 0; i < p->kernel_count; i++)
            json_array_append_new(
                kernels,
                json_pack("{s:o, s:i, s:i, s:i, s:i, s:i}", "name", tki_text_json(p->kernels[i].name), "registers",
                          p->kernels[i].registers, "shared_bytes", p->kernels[i].shared_bytes, "stack_bytes",
                          p->kernels[i].stack_bytes, "spill_store_bytes", p->kernels[i].spill_store_bytes,
                          "spill_load_bytes", p->kernels[i].spill_load_bytes));
        json_object_set_new(built, "kernels", kernels);
    }
    json_object_set_new(built, "note", p->note[0] ? tki_text_json(p->note) : NULL);
    json_object_set_new(built, "log", p->log[0] ? tki_text_json(p->log) : NULL);
    return built;
}

static json_t *machine_json(const tki_outcome *o, const tki_provenance *p)
{
    if (!p->on_gpu)
        return json_pack("{s:s, s:o, s:o, s:i, s:o*}", "backend", p->device.backend, "device",
                         tki_text_json(p->device.name), "features", tki_text_json(p->device.detail), "units",
                         p->device.units, "claimed_device", tki_text_json(o->options->kernel_device));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:i, s:I, s:o, s:o}", "backend", p->gpu.backend->name, "device",
                     tki_text_json(p->gpu.name), "uuid", tki_text_json(p->gpu.uuid), "architecture",
                     tki_text_json(p->gpu.architecture), "driver", tki_text_json(p->gpu.driver), "units",
                     p->gpu.units, "memory_bytes", (json_int_t)p->gpu.memory_bytes, "host",
                     tki_text_json(p->device.name), "features", tki_text_json(p->device.detail));
}

static json_t *confinement_json(const tki_confinement *confinement)
{
    char line[TKI_MEANS_TEXT];
    json_t *lines = confinement->count ? json_array() : NULL;
    for (int i = 0; i < confinement->count; i++) {
        tki_means_text(&confinement->means[i], line, sizeof line);
        json_array_append_new(lines, json_string(line));
    }
    return lines;
}

static json_t *sanitizer_json(const tki_sanitized *s)
{
    json_t *tools = json_array();
    for (int tool = TKI_SANITIZER_MEMCHECK; tool < TKI_SANITIZER_TOOLS; tool++) {
        const tki_sanitized_tool *t = &s->tools[tool];
        if (!t->complete && !t->problem[0])
            continue; /* one before it had found something */
        json_t *json = json_pack("{s:s, s:I, s:i}", "tool", tki_sanitizer_name((tki_sanitizer_tool)tool), "calls",
                                 (json_int_t)t->calls, "findings", t->findings);
        json_object_set_new(json, "problem", t->problem[0] ? tki_text_json(t->problem) : NULL);
        json_array_append_new(tools, json);
    }
    return json_pack("{s:s, s:o, s:o*}", "version", s->version, "tools", tools, "confinement",
                     confinement_json(&s->confinement));
}

/* What the worker's process said before it loaded anything foreign, and who held the watch. */
static json_t *worker_json(const tki_outcome *o)
{
    const tk_kernel_file *kernel = o->options->kernel_file;
    json_t *worker = json_pack("{s:o, s:s}", "confinement", confinement_json(&o->confinement), "clock",
                               "CLOCK_MONOTONIC of the judging process, around each call");
    const bool strong = tki_confinement_is_strong(&o->confinement);
    char weakness[TKI_MEANS_TEXT];
    tki_confinement_weakness(&o->confinement, weakness, sizeof weakness);
    json_object_set_new(worker, "strength", json_string(strong ? "strong" : "weak"));
    json_object_set_new(worker, "weakness", strong ? NULL : json_string(weakness));
    json_object_set_new(worker, "compiler_confinement", confinement_json(&kernel->build.confinement));
    /* What else loading does to the floating-point mode refutes it. */
    json_object_set_new(worker, "flushes_subnormals",
                        o->loading.float_mode == TKI_FLOAT_MODE_START ? NULL : json_true());
    json_object_set_new(worker, "changes_environment",
                        o->loading.changed & TKI_CHANGED_ENVIRONMENT ? json_true() : NULL);
    if (o->sanitized.wanted && o->sanitized.here)
        json_object_set_new(worker, "sanitizer", sanitizer_json(&o->sanitized));
    return worker;
}

/* Why nothing is known of what ran, or NULL. */
static const char *no_coverage(const tki_outcome *o, const tki_provenance *p)
{
    const char *of_kind = tki_no_coverage_of_kind(o->kind, o->backend, p->source != NULL);
    if (of_kind)
        return of_kind;
    if (o->options->skip_coverage)
        return TKI_COVERAGE_NOT_REQUESTED;
    if (o->options->dims || o->options->family)
        return TKI_COVERAGE_OF_RESTRICTED;
    if (o->exploration.known)
        return NULL;
    return o->exploration.why[0] ? o->exploration.why : TKI_COVERAGE_NOT_REACHED;
}

static json_t *coverage_json(const tki_outcome *o, const tki_provenance *p)
{
    const tki_exploration *x = &o->exploration;
    const char *unknown = no_coverage(o, p);
    if (unknown)
        return json_pack("{s:b, s:o}", "known", 0, "reason", tki_text_json(unknown));
    json_t *lines = x->lines_known
                        ? json_pack("{s:b, s:I, s:I, s:o}", "known", 1, "count", (json_int_t)x->lines.count, "run",
                                    (json_int_t)x->lines.run, "never_ran", tki_lines_json(&x->lines))
                        : json_pack("{s:b, s:o}", "known", 0, "reason", tki_text_json(x->no_lines));
    return json_pack("{s:b, s:I, s:I, s:I, s:I, s:b, s:I, s:o}", "known", 1, "blocks", (json_int_t)x->blocks, "edges",
                     (json_int_t)x->edges, "calls", (json_int_t)x->calls, "found", (json_int_t)x->found, "spent",
                     (int)x->spent, "unwatched", (json_int_t)x->unwatched, "lines", lines);
}

/* Takes over the text; an empty one may be left out. */
static void set_text(json_t *predicate, const char *name, char *text, bool always)
{
    json_object_set_new(predicate, name, text && (always || text[0]) ? tki_text_json(text) : NULL);
    free(text);
}

static json_t *contract_json(const tk_contract *contract)
{
    const bool by_program = tki_oracle_of(contract) == &tki_program_oracle;
    const char *definition = tk_contract_definition(contract);
    char hash[TKI_HASH_HEX];
    const bool hashed = definition && tki_hash_bytes(definition, strlen(definition), hash);
    return json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:s*}", "summary", contract->summary, "formula", contract->formula,
                     "bound", contract->bound, "definition", definition, "definition_sha256", hashed ? hash : NULL,
                     "exact_values", by_program ? "program" : NULL);
}

static json_t *predicate_json(const tki_outcome *o, const tki_provenance *p, const char *key)
{
    char date[TKI_DATE_TEXT];
    tki_date_now(date);
    json_t *values = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tokitai", tk_version(),
                               "verdict", tk_verdict_name(o->verdict), "key", key, "created", date, "contract",
                               contract_json(o->contract), "run", run_json(o), "clauses", clauses_json(o), "result",
                               result_json(o), "mutants", mutants_json(o), "built", built_json(p), "machine",
                               machine_json(o, p));
    json_t *proofs = tki_proofs_json(o->contract);
    json_object_set_new(values, "worker", o->confinement.count ? worker_json(o) : NULL);
    json_object_set_new(values, "coverage", coverage_json(o, p));
    json_object_set_new(values, "cause", tki_cause_json(o));
    json_object_set(values, "failing_case", o->verdict == TK_REFUTED ? o->failing_case : NULL);
    json_object_set_new(values, "rests_on",
                        tki_rests_on_json(json_object_get(values, "clauses"), proofs, o->given != NULL));
    json_object_set_new(values, "proofs", proofs);
    json_t *predicate = tki_members_of_kind(o->kind->name, values);
    json_decref(values);
    /* Last, since they say what the other members do. */
    json_object_set_new(predicate, "evidence", tki_evidence_json(predicate, o->contract));
    json_object_set_new(predicate, "non_claims", tki_non_claims_json(predicate, o->contract));
    set_text(predicate, "reason", tki_reason(predicate, o->contract), true);
    set_text(predicate, "reproduce", tki_reproduce(predicate, o->contract), false);
    set_text(predicate, "headline", tki_headline(predicate), true);
    return predicate;
}

tk_status tki_certificate_make(tk_ctx *ctx, const tki_outcome *o, tk_certificate **certificate)
{
    tki_provenance provenance;
    char key[TKI_HASH_HEX];
    char hash[TKI_HASH_HEX];
    tk_status status = o->kind->trace(ctx, o, &provenance);
    if (status != TK_OK)
        return status;
    char settings[TKI_SETTINGS_TEXT];
    tki_settings_text(o->contract, o->attributes, settings, sizeof settings);
    if (!tki_provenance_key(&provenance, o->contract, o->subject, settings, key))
        return tki_fail(ctx, TK_INTERNAL, "SHA-256 failed");
    /* A path is bytes, JSON is UTF-8. */
    json_t *valid = json_string(provenance.artifact_path);
    for (char *p = provenance.artifact_path; !valid && *p; p++)
        *p = (unsigned char)*p < 0x80 ? *p : '?';
    json_decref(valid);
    const char *slash = strrchr(provenance.artifact_path, '/');
    json_t *statement = json_pack("{s:s, s:[{s:s, s:{s:s}}], s:s, s:o}", "_type", TKI_STATEMENT_TYPE, "subject",
                                  "name", slash ? slash + 1 : provenance.artifact_path, "digest", "sha256",
                                  provenance.artifact_hash, "predicateType", TKI_PREDICATE_TYPE, "predicate",
                                  predicate_json(o, &provenance, key));
    json_t *predicate = json_object_get(statement, "predicate");
    if (!statement || !tki_statement_hash(statement, hash) ||
        json_object_set_new(predicate, "integrity", json_pack("{s:s}", "sha256", hash))) {
        json_decref(statement);
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the certificate");
    }
    char what[256];
    if (tki_members_are_missing(o->kind->name, predicate, what, sizeof what)) {
        json_decref(statement);
        return tki_fail(ctx, TK_INTERNAL, "the certificate cannot be written: %s", what);
    }
    *certificate = tki_certificate_of(statement);
    return *certificate ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory for the certificate");
}
