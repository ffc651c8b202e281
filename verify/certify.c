/* TRUSTED. tk_certify: from an op to a certificate. The steps stand in certify() in the order in which they happen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <omp.h>

#include "model/attributes.h"
#include "model/case.h"
#include "core/clock.h"
#include "core/context.h"
#include "core/escape.h"
#include "core/limits.h"
#include "core/options.h"
#include "core/random.h"
#include "exact/domain.h"
#include "exact/round.h"
#include "plan/plan.h"
#include "verify/certify.h"
#include "verify/families.h"
#include "verify/guard.h"
#include "verify/kernel_file.h"
#include "verify/memory.h"
#include "verify/outcome.h"
#include "verify/registry.h"
#include "verify/setup.h"
#include "verify/settings.h"
#include "verify/shrink.h"

/* Up to this many input elements a failing case is written out bit by bit. */
enum { MOST_GIVEN = 96, MOST_THREADS = 65536 };

const char *tk_verdict_name(tk_verdict verdict)
{
    static const char *const names[] = {"PROVED", "HELD", "REFUTED", "UNKNOWN"};
    return (unsigned)verdict < sizeof names / sizeof *names ? names[verdict] : "UNKNOWN";
}

const char *tk_level_name(tk_level level)
{
    static const char *const names[] = {"quick", "full", "exhaustive"};
    return (unsigned)level < sizeof names / sizeof *names ? names[level] : "unknown";
}

static void report(const tk_certify_options *options, double done, const char *what)
{
    if (options->progress)
        options->progress(done, what, options->progress_data);
}

/* -- What is asked for ------------------------------------------------------------------------------------- */

static tk_status check_given_inputs(tk_ctx *ctx, const tk_contract *contract, const tk_certify_options *options)
{
    if (options->input_count == 0)
        return TK_OK;
    if (!options->dims)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: inputs were given without a shape", contract->name);
    for (int i = 0; i < options->input_count; i++) {
        bool known = false;
        if (!options->inputs || !options->inputs[i].name || !options->inputs[i].bits)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: input %d has no name or no bits", contract->name, i);
        for (int p = 0; p < contract->param_count; p++)
            known |= !contract->params[p].output && !strcmp(contract->params[p].name, options->inputs[i].name);
        if (!known)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s has no input '%s'", contract->name, options->inputs[i].name);
    }
    return TK_OK;
}

/* A certificate is JSON, and JSON is UTF-8. */
static bool is_utf8(const char *text)
{
    json_t *string = json_string(text);
    bool good = string != NULL;
    json_decref(string);
    return good;
}

/* Cut to fit, but not within a character. */
static void copy_name(char *place, size_t size, const char *name)
{
    size_t length = strnlen(name, size - 1);
    while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
        length--;
    memcpy(place, name, length);
    place[length] = 0;
}

static tk_status check_options(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                               const tk_certify_options *options)
{
    tk_case c = tk_case_init(contract, dtype);
    c.result_dtype = tki_result_dtype(dtype, options);
    c.index_dtype = index_dtype;
    if (options->dims)
        memcpy(c.dims, options->dims, (size_t)contract->dim_count * sizeof *c.dims);
    tk_status settings = tki_settings_read(ctx, contract, options, c.attributes);
    if (settings != TK_OK)
        return settings;
    if (!(options->total_seconds >= 0))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%g seconds are no time for a judgement", options->total_seconds);
    if ((unsigned)options->level > TK_EXHAUSTIVE)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "there is no level %d", (int)options->level);
    if (options->call_threads < 0 || options->call_threads > MOST_THREADS)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%d threads are not from 0 to %d", options->call_threads, MOST_THREADS);
    if (options->planted_count && !options->dims)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: values to be planted were given without a shape", contract->name);
    if (options->planted_count < 0 || options->planted_count > TK_MAX_PLANTED)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%d values to be planted: at most %d", options->planted_count,
                        TK_MAX_PLANTED);
    if (options->alignment < 0 || options->alignment > TKI_MOST_ALIGNMENT ||
        options->alignment & (options->alignment - 1))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "an alignment of %d bytes is no power of two up to %d",
                        options->alignment, TKI_MOST_ALIGNMENT);
    if ((unsigned)options->sanitize > TK_SANITIZE_NEVER)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "there is no way %d to sanitize", (int)options->sanitize);
    if (options->kernel && ((options->kernel_name && !is_utf8(options->kernel_name)) ||
                            (options->kernel_program && !is_utf8(options->kernel_program))))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the function's name is not UTF-8");
    if (options->family && tki_family_find(options->family) < 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "there is no input family '%s'", options->family);
    if (options->mutant && !tki_mutant_find(contract, options->mutant))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s has no planted wrong kernel '%s'", contract->name, options->mutant);
    if (options->variant && !tki_variant_find(contract, options->variant))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s has no planted correct kernel '%s'", contract->name,
                        options->variant);
    if (!!options->mutant + !!options->variant + !!options->kernel + !!options->lowering + !!options->kernel_file > 1)
        return tki_fail(ctx, TK_BAD_ARGUMENT,
                        "give a lowering, a planted kernel, a function or a kernel file, not two of them");
    tk_status status = tki_case_check_shape(ctx, &c);
    return status == TK_OK ? check_given_inputs(ctx, contract, options) : status;
}

/* The one asked for, or the one that the lowering's id begins with; NULL if there is none of that name. */
static const tki_backend *backend_of(const tk_certify_options *options)
{
    if (options->backend)
        return tki_backend_find(options->backend, "");
    const tki_backend *of_lowering = tki_backend_find(options->lowering, ".");
    return of_lowering ? of_lowering : tki_backend_find("cpu", "");
}

static tk_status choose_executable(tk_ctx *ctx, tki_outcome *o, tki_executable *executable)
{
    const tk_certify_options *options = o->options;
    tk_case c = tki_outcome_case(o);
    char types[TKI_TYPES_TEXT];
    tki_outcome_types(o, types);
    if (options->kernel_file) {
        o->kind = TKI_KERNEL_FILE;
        snprintf(o->subject, sizeof o->subject, "kernel.%s.%s.%s.%s%s", options->kernel_file->backend->name,
                 o->contract->name, types, options->kernel_file->name, tki_id_ending(&c));
        *executable = (tki_executable){0}; /* start_worker() brings the rest */
        return TK_OK;
    }
    if (options->kernel) {
        o->kind = TKI_FUNCTION;
        copy_name(o->subject, sizeof o->subject, options->kernel_name ? options->kernel_name : "function");
        *executable = (tki_executable){.kernel = options->kernel, .kernel_data = options->kernel_data};
        return TK_OK;
    }
    if (options->mutant || options->variant) {
        const tki_mutant *planted = options->mutant ? tki_mutant_find(o->contract, options->mutant)
                                                    : tki_variant_find(o->contract, options->variant);
        o->kind = options->mutant ? TKI_MUTANT : TKI_VARIANT;
        snprintf(o->subject, sizeof o->subject, "%s.%s.%s.%s", options->mutant ? "mutant" : "variant",
                 o->contract->name, types, planted->name);
        o->planted = (tki_mutant_run){.how = planted->how};
        *executable = (tki_executable){.kernel = planted->kernel, .kernel_data = &o->planted};
        return TK_OK;
    }
    const tki_backend *backend = backend_of(options);
    tki_plan plan = {0};
    if (backend)
        tki_plan_case(ctx, &c, backend, options->lowering, &plan);
    if (!plan.lowering)
        return tki_fail(ctx, options->lowering ? TK_BAD_ARGUMENT : TK_UNSUPPORTED, "%s: no lowering %s%s%s",
                        o->contract->name, options->lowering ? options->lowering : "takes this case on that backend",
                        plan.refusals[0] ? ": " : "", plan.refusals);
    o->kind = TKI_LOWERING;
    o->lowering = plan.lowering;
    tki_lowering_id(plan.lowering, &c, o->subject, sizeof o->subject);
    snprintf(o->refusals, sizeof o->refusals, "%s", plan.refusals);
    *executable = (tki_executable){.lowering = plan.lowering, .host_buffers = true};
    return TK_OK;
}

/* -- Running trials ---------------------------------------------------------------------------------------- */

static void note_worst(tki_outcome *o, const tki_trial *trial, const tki_inputs *inputs, const tki_element *worst)
{
    bool worse = worst->present && (!o->judgement.worst.present || worst->ulps > o->judgement.worst.ulps);
    if (!worse)
        return;
    o->judgement.worst = *worst;
    o->worst_trial = *trial;
    o->worst_inputs_known = trial->c.contract->dim_count == 1;
    for (int p = 0; p < trial->c.contract->param_count && o->worst_inputs_known; p++)
        if (inputs->data[p])
            o->worst_inputs[p] = tki_element_bits(tk_case_param_dtype(&trial->c, p), inputs->data[p], worst->index);
}

static void add_result(tki_outcome *o, const tki_trial *trial, const tki_inputs *inputs, const tki_trial_result *r)
{
    note_worst(o, trial, inputs, &r->judgement.worst);
    tki_judgement_add(&o->judgement, &r->judgement);
    if (r->failed_clause >= 0) {
        tki_judgement_add(&o->failing, &r->judgement);
        o->failed_trials++;
    }
    for (int i = 0; i < TK_MAX_CLAUSES; i++)
        o->structural[i] += r->structural[i];
    if (r->determinism < o->determinism)
        o->determinism = r->determinism;
    o->batch_checked |= r->batch_checked;
    o->kernel_seconds += r->kernel_seconds;
    o->judge_seconds += r->judge_seconds;
}

/* Chunks of an exhaustive domain become one record whose hash runs over theirs. */
static void record_trial(tki_outcome *o, const tki_trial *trial, const tki_trial_result *r)
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

/* -- The one-line command ---------------------------------------------------------------------------------- */

static void print_given_inputs(FILE *out, const tki_trial *trial, const tki_inputs *inputs)
{
    for (int p = 0; p < trial->c.contract->param_count; p++) {
        const tk_param *param = &trial->c.contract->params[p];
        const tk_dtype dtype = tk_case_param_dtype(&trial->c, p);
        int64_t count = tk_case_elements(&trial->c, p);
        for (int64_t i = 0; !param->output && i < count; i++) {
            fprintf(out, i ? "," : " --input %s=", param->name);
            if (param->kind != TK_KIND_INDEX)
                fprintf(out, "0x%0*x", tki_format_bits(dtype) / 4, tki_element_bits(dtype, inputs->data[p], i));
            else if (trial->c.index_dtype == TK_I64)
                fprintf(out, "%lld", (long long)((const int64_t *)inputs->data[p])[i]);
            else
                fprintf(out, "%d", ((const int32_t *)inputs->data[p])[i]);
        }
    }
}

static void print_word(FILE *out, const char *option, const char *word)
{
    fprintf(out, " --%s ", option);
    tki_put_shell_word(out, word);
}

/* " --label-smoothing 0.1" */
static void print_attribute(FILE *out, const tk_attribute *attribute, tk_value value)
{
    char text[32];
    tk_attribute_print(attribute, value, text, sizeof text);
    fputs(" --", out);
    for (const char *name = attribute->name; *name; name++)
        fputc(*name == '_' ? '-' : *name, out);
    fprintf(out, " %s", text);
}

static void print_kernel_file(FILE *out, const tk_kernel_file *kernel)
{
    print_word(out, "kernel", kernel->path);
    if (kernel->compiler)
        print_word(out, "compiler", kernel->compiler);
    if (kernel->flags)
        print_word(out, "flags", kernel->flags);
    if (kernel->include)
        print_word(out, "include", kernel->include);
    const tk_limits *limits = &kernel->terms.limits;
    if (limits->memory_bytes)
        fprintf(out, " --memory %lld", (long long)limits->memory_bytes);
    if (limits->tasks)
        fprintf(out, " --tasks %d", limits->tasks);
    if (limits->output_bytes)
        fprintf(out, " --output-size %lld", (long long)limits->output_bytes);
    if (limits->folder_depth)
        fprintf(out, " --folder-depth %d", limits->folder_depth);
    if (kernel->device)
        fprintf(out, " --backend %s:%d", kernel->backend->name, kernel->device);
    else if (kernel->is_library && kernel->backend->is_gpu)
        fprintf(out, " --backend %s", kernel->backend->name);
}

/* A case is judged at quick, where nothing is watched unless it is asked for. */
static void print_sanitize(FILE *out, const tki_outcome *o)
{
    if (o->sanitized.tool || o->options->sanitize == TK_SANITIZE_ALWAYS)
        fputs(" --sanitize", out);
    else if (o->options->sanitize == TK_SANITIZE_NEVER)
        fputs(" --no-sanitize", out);
}

static void print_subject(FILE *out, const tki_outcome *o)
{
    bool program = o->kind == TKI_FUNCTION && o->options->kernel_program;
    if (o->kind == TKI_FUNCTION && !program)
        fprintf(out, "# the function '%s' with: ", o->subject);
    char types[TKI_TYPES_TEXT];
    tki_outcome_types(o, types);
    fprintf(out, "tokitai certify %s --dtype %s", o->contract->name, types);
    if (tk_contract_takes_index(o->contract))
        fprintf(out, " --index %s", tk_dtype_name(o->index_dtype));
    if (o->kind == TKI_LOWERING)
        fprintf(out, " --lowering %s", o->subject);
    if (o->kind == TKI_MUTANT)
        fprintf(out, " --mutant %s", o->options->mutant);
    if (o->kind == TKI_VARIANT)
        fprintf(out, " --variant %s", o->options->variant);
    if (o->kind == TKI_KERNEL_FILE) {
        print_kernel_file(out, o->options->kernel_file);
        print_sanitize(out, o);
    }
    if (program)
        print_word(out, "program", o->options->kernel_program);
    for (int i = 0; i < o->contract->attribute_count; i++)
        if (tki_settings_is_restriction(o->contract, o->attributes, i))
            print_attribute(out, &o->contract->attributes[i], o->attributes[i]);
}

/* Where the arrays lie, how many threads there are and what the outputs hold comes from the seed: most failures do not need that. */
static tk_status fails_by_default(tki_subject *subject, const tki_trial *shrunk, const tki_inputs *inputs,
                                  bool *fails)
{
    tki_trial trial = *shrunk;
    tki_trial_result result;
    trial.seed = TK_SEED_DEFAULT;
    tk_status status = tki_trial_run(subject, &trial, inputs, &result);
    *fails = status == TK_OK && result.failed_clause >= 0;
    return status;
}

static char *reproducing_command(const tki_outcome *o, const tki_trial *original, const tki_trial *shrunk,
                                 const tki_inputs *inputs, bool fails_by_default)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const tk_contract *contract = o->contract;
    int64_t elements = 0;
    for (int p = 0; p < contract->param_count; p++)
        elements += contract->params[p].output ? 0 : tk_case_elements(&shrunk->c, p);
    bool given = elements <= MOST_GIVEN;
    const tki_trial *shown = given ? shrunk : original;
    print_subject(out, o);
    for (int d = 0; d < contract->dim_count; d++)
        fprintf(out, "%s%s=%lld", d ? "," : " --shape ", contract->dim_names[d], (long long)shown->c.dims[d]);
    for (int i = 0; i < contract->attribute_count; i++)
        if (contract->attributes[i].seen_by_kernel)
            print_attribute(out, &contract->attributes[i], shown->c.attributes[i]);
    if (given)
        print_given_inputs(out, shrunk, inputs);
    else
        fprintf(out, " --family %s", tki_trial_family_name(original));
    for (int i = 0; i < original->planted_count && !given; i++)
        fprintf(out, "%s%lld", i ? "," : " --plant ", (long long)original->planted[i]);
    if (shown->threads)
        fprintf(out, " --threads %d", shown->threads);
    if (shown->alignment)
        fprintf(out, " --alignment %d", shown->alignment);
    /* Of a stranger's kernel it is drawn anew where it is not given. */
    if (!given || !fails_by_default || o->kind == TKI_KERNEL_FILE)
        fprintf(out, " --seed %llu", (unsigned long long)shown->seed);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* For what no restriction shows: the whole certification again. */
static char *whole_command(const tki_outcome *o)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print_subject(out, o);
    if (o->kind == TKI_KERNEL_FILE)
        fprintf(out, " --level %s --seed %llu", tk_level_name(o->level), (unsigned long long)o->options->seed);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* Asked where there is more to be done. */
static bool is_out_of_time(const tki_subject *subject, tki_outcome *o)
{
    o->out_of_time |= tki_ctx_out_of_time(subject->ctx);
    return o->out_of_time;
}

/* Starts the worker of a kernel file, or another one in its place. A kernel that cannot be had leaves the verdict UNKNOWN, one that
 * crashes while it is loaded has failed. */
static tk_status start_worker(tki_subject *subject, tki_outcome *o, bool guarded)
{
    tki_executable *executable = &subject->executor.executable;
    tk_status status = executable->worker ? tki_worker_renew(executable->worker, guarded)
                                          : tki_kernel_file_start(subject->ctx, o->options->kernel_file, o->contract,
                                                                  &executable->worker);
    if (status != TK_OK) {
        o->fault = subject->ctx->fault;
        tki_worker_close(executable->worker);
        executable->worker = NULL;
    }
    if (status == TK_KERNEL_FAULT) {
        o->verdict = TK_REFUTED;
        o->failed_clause = tki_clause_find(o->contract, TK_CLAUSE_SHAPE);
        o->refuted[o->failed_clause] = true;
        snprintf(o->reason, sizeof o->reason, "%s: %.600s", o->contract->clauses[o->failed_clause].id,
                 tk_ctx_message(subject->ctx));
        o->reproduce = whole_command(o);
        return o->reproduce ? TK_OK : tki_fail(subject->ctx, TK_NO_MEMORY, "no memory for the reproducing command");
    }
    if (status == TK_TIMEOUT)
        (void)is_out_of_time(subject, o);
    if (status == TK_BAD_FILE || status == TK_TIMEOUT || status == TK_UNAVAILABLE) {
        o->verdict = TK_UNKNOWN;
        snprintf(o->reason, sizeof o->reason, "there is nothing to run: %.700s", tk_ctx_message(subject->ctx));
        return TK_OK;
    }
    if (status == TK_OK && !o->confinement) {
        o->confinement = strdup(tki_worker_confinement(executable->worker));
        if (!o->confinement)
            status = tki_fail(subject->ctx, TK_NO_MEMORY, "no memory for the worker's report");
    }
    return status;
}

/* -- The steps --------------------------------------------------------------------------------------------- */

static void note_failed(tki_outcome *o, const tki_trial *trial, const tki_trial_result *r)
{
    o->verdict = TK_REFUTED;
    o->failed_clause = r->failed_clause;
    o->refuted[r->failed_clause] = true;
    o->failed_trial = *trial;
    o->judgement.failure = r->judgement.failure;
    o->fault = r->fault;
    snprintf(o->reason, sizeof o->reason, "%s: %s", o->contract->clauses[r->failed_clause].id, r->reason);
}

static void note_not_run(tki_outcome *o, const tki_trial_result *r)
{
    o->verdict = TK_UNKNOWN;
    o->fault = r->fault;
    snprintf(o->reason, sizeof o->reason, "%s%s", r->timed_out ? "" : "the kernel could not be run: ", r->reason);
}

/* A matrix product that somebody brought may be right by the other numerics: does the trial that failed hold there? `hint` receives the
 * sentence that says so, or "". */
static tk_status try_other_numerics(tki_subject *subject, const tki_outcome *o, const tki_trial *trial,
                                    const tki_inputs *inputs, const tki_trial_result *r, char *hint, size_t size)
{
    hint[0] = 0;
    bool brought = o->kind == TKI_KERNEL_FILE || o->kind == TKI_FUNCTION;
    if (!brought || o->contract->attribute_count <= TKI_NUMERICS || r->only_changed ||
        r->failed_clause != tki_clause_find(o->contract, TK_CLAUSE_ERROR))
        return TK_OK;
    tki_trial other = *trial;
    tki_trial_result again;
    bool ieee = trial->c.attributes[TKI_NUMERICS].integer == TKI_NUMERICS_IEEE;
    other.c.attributes[TKI_NUMERICS].integer = ieee ? TKI_NUMERICS_TENSOR_CORE : TKI_NUMERICS_IEEE;
    other.c.attributes[TKI_MATRIX_UNIT].integer = tki_settings_matrix_unit(subject->ctx, o->lowering, o->options);
    tk_status status = tki_trial_run(subject, &other, inputs, &again);
    const char *name = tki_settings_choice(o->contract, other.c.attributes, TKI_NUMERICS);
    if (status == TK_OK && again.failed_clause < 0 && !again.could_not_run)
        snprintf(hint, size, "; the trial that failed is within the bound of numerics %s: certify with --numerics %s",
                 name, name);
    return status;
}

static tk_status note_refuted(tki_subject *subject, tki_outcome *o, const tki_trial *trial, tki_inputs *inputs,
                              tki_trial_result *r)
{
    tki_trial shrunk = *trial;
    char hint[160];
    tk_status hinted = try_other_numerics(subject, o, trial, inputs, r, hint, sizeof hint);
    if (hinted != TK_OK)
        return hinted;
    o->refuted[r->failed_clause] = true;
    tk_status status = r->only_changed ? tki_trial_adopt_change(subject, &shrunk, inputs, r) : TK_OK;
    if (status == TK_OK)
        status = tki_shrink(subject, &shrunk, inputs, r);
    if (status != TK_OK)
        return status;
    note_failed(o, &shrunk, r);
    size_t told = strlen(o->reason);
    snprintf(o->reason + told, sizeof o->reason - told, "%s", hint);
    bool by_default = false;
    tki_trial_give_inputs(&shrunk);
    if (o->kind != TKI_KERNEL_FILE)
        status = fails_by_default(subject, &shrunk, inputs, &by_default);
    if (status != TK_OK)
        return status;
    o->reproduce = reproducing_command(o, trial, &shrunk, inputs, by_default);
    return o->reproduce ? TK_OK : tki_fail(subject->ctx, TK_NO_MEMORY, "no memory for the reproducing command");
}

static double gib_of(const tki_outcome *o, const tki_trial *trial)
{
    return tki_case_gib(&trial->c, o->kind == TKI_KERNEL_FILE);
}

/* A trial that is not for every machine is left out where memory is short, or where a stranger's kernel on the CPU would take longer over
 * it than a call may. */
static bool leaves_out(tki_outcome *o, const tki_trial *trial)
{
    if (!trial->where_memory_allows)
        return false;
    bool slow = o->kind == TKI_FUNCTION || o->kind == TKI_MUTANT || o->kind == TKI_VARIANT ||
                (o->kind == TKI_KERNEL_FILE && !o->options->kernel_file->backend->is_gpu);
    int64_t most = 0;
    for (int p = 0; p < o->contract->param_count; p++)
        most = tk_case_elements(&trial->c, p) > most ? tk_case_elements(&trial->c, p) : most;
    return (slow && most > INT64_C(1) << 31) || 2 * gib_of(o, trial) > tki_free_gib();
}

static void note_left_out(tki_outcome *o, const tki_trial *trial)
{
    double gib = gib_of(o, trial);
    if (!o->left_out || gib < o->left_out_gib)
        o->left_out_gib = gib;
    o->left_out++;
    o->held += o->verdict == TK_HELD; /* the next ones of the list come after it */
}

/* A trial that ran to an end, whatever became of it. The first that fails is shrunk and gives the reason; of later ones, which only
 * keep_going comes to, the figures count. */
static tk_status note_ran(tki_subject *subject, tki_outcome *o, const tki_trial *trial, tki_inputs *inputs,
                          tki_trial_result *r)
{
    if (!r->faulted)
        record_trial(o, trial, r);
    if (r->failed_clause < 0)
        return TK_OK;
    if (o->verdict == TK_HELD)
        return note_refuted(subject, o, trial, inputs, r);
    o->refuted[r->failed_clause] = true;
    return TK_OK;
}

enum { MOST_FAULTS = 8 };

/* *over: no other is to be run. With keep_going that is when it cannot be run or has crashed too often, for each crash costs a new
 * process. */
static tk_status run_trial(tki_subject *subject, tki_outcome *o, const tki_trial *trial, bool *over)
{
    tki_inputs inputs;
    tki_trial_result r;
    tk_status status = tki_inputs_make(subject->ctx, trial, o->options, &inputs);
    if (status != TK_OK)
        return status;
    status = tki_trial_run(subject, trial, &inputs, &r);
    if (status == TK_NO_MEMORY && trial->where_memory_allows) {
        tki_inputs_free(&inputs);
        note_left_out(o, trial); /* of a device, which has less than its host */
        return TK_OK;
    }
    *over = status != TK_OK || r.could_not_run;
    const bool late = status == TK_OK && r.could_not_run && is_out_of_time(subject, o);
    if (status == TK_OK && !late) {
        add_result(o, trial, &inputs, &r);
        o->tried++;
        o->faults += r.faulted;
        if (!r.could_not_run)
            status = note_ran(subject, o, trial, &inputs, &r);
        else if (o->verdict == TK_HELD)
            note_not_run(o, &r);
    }
    tki_inputs_free(&inputs);
    *over |= status != TK_OK || o->faults == MOST_FAULTS || (o->verdict != TK_HELD && !o->options->keep_going);
    if (!*over)
        o->held += o->verdict == TK_HELD;
    return status;
}

/* Runs the trials until one fails; with keep_going, all that can be run. */
static tk_status run_trials(tki_subject *subject, tki_outcome *o, const tki_trials *trials, double share)
{
    tk_status status = TK_OK;
    bool over = false;
    for (int64_t i = 0; i < trials->count && !over && status == TK_OK && !is_out_of_time(subject, o); i++) {
        report(o->options, share * (double)i / (double)trials->count, tki_trial_family_name(&trials->list[i]));
        if (leaves_out(o, &trials->list[i]))
            note_left_out(o, &trials->list[i]);
        else
            status = run_trial(subject, o, &trials->list[i], &over);
        o->complete = o->tried + o->left_out == trials->count;
    }
    return status;
}

typedef struct found_by_coverage {
    tki_subject *subject;
    tki_outcome *o;
} found_by_coverage;

/* A trial that the certificate to be repeated lists has been run with the others. */
static tk_status run_found(void *data, const tki_trial *trial, bool *stop)
{
    const found_by_coverage *f = data;
    bool known = false;
    for (int64_t i = 0; i < f->o->trial_count && !known; i++)
        known = tki_trial_same(&f->o->trials[i].trial, trial);
    *stop = false;
    tk_status status = known ? TK_OK : run_trial(f->subject, f->o, trial, stop);
    /* A path that was led to by sizes has yet to meet inputs that tell. */
    for (int i = 0;
         status == TK_OK && !known && !*stop && !trial->planted_count && tki_family_telling(f->o->contract, i) >= 0;
         i++) {
        tki_trial telling = *trial;
        telling.family = tki_family_telling(f->o->contract, i);
        if (telling.family != trial->family)
            status = run_trial(f->subject, f->o, &telling, stop);
    }
    return status;
}

/* What an instrumented build of the kernel leads to. */
static tk_status run_coverage(tki_subject *subject, tki_outcome *o, const tki_trials *trials)
{
    found_by_coverage f = {subject, o};
    if (o->options->skip_coverage)
        return TK_OK;
    report(o->options, 0.9, "coverage");
    return tki_explore(subject->ctx, o->contract, o->options, trials, subject->suspicion, run_found, &f,
                       &o->exploration);
}

/* Trials that held come again, in an order of their own, after everything else: a kernel that is right only the first times, or that
 * an earlier call has put right, is found out. Every fifth goes to a fresh process, most of them with a guarded heap: memory that a kernel keeps
 * for one shape and uses for another is overrun there. */
static tk_status run_again(tki_subject *subject, tki_outcome *o)
{
    enum { MOST_ELEMENTS = 1 << 16, EACH_FRESH = 5, EACH_PLAIN = 3, MANY_THREADS = 16 };
    const int64_t count = o->level == TK_QUICK ? 40 : 160;
    tki_random random = tki_random_stream(o->options->seed, 1);
    for (int64_t i = 0; i < count && o->verdict == TK_HELD && !is_out_of_time(subject, o); i++) {
        const tki_trial_record *record = &o->trials[tki_random_below(&random, (uint64_t)o->trial_count)];
        tki_inputs inputs;
        tki_trial_result r;
        if (record->repeats > 1 || record->elements > MOST_ELEMENTS)
            continue;
        const bool fresh = i % EACH_FRESH == EACH_FRESH - 1;
        const bool guarded = i / EACH_FRESH % EACH_PLAIN != EACH_PLAIN - 1;
        if (i % EACH_FRESH == 0)
            tki_worker_prepare(subject->executor.executable.worker, guarded);
        tki_trial trial = record->trial;
        tk_status status = fresh ? start_worker(subject, o, guarded) : TK_OK;
        if (status != TK_OK || o->verdict != TK_HELD)
            return status;
        /* What a process makes on first use is made for the other type, or by many threads at once. */
        if (fresh && i / EACH_FRESH % 2)
            status = tki_trial_visit(subject, &trial);
        else if (fresh && !trial.threads)
            trial.threads = MANY_THREADS;
        if (status == TK_OK)
            status = tki_inputs_make(subject->ctx, &trial, o->options, &inputs);
        if (status != TK_OK)
            return status;
        status = tki_trial_run_again(subject, &trial, &inputs, record->output_hash, &r);
        tki_inputs_free(&inputs);
        if (status != TK_OK)
            return status;
        o->came_again++;
        o->kernel_seconds += r.kernel_seconds;
        for (int k = 0; k < TK_MAX_CLAUSES; k++)
            o->structural[k] += r.structural[k];
        if (r.determinism < o->determinism)
            o->determinism = r.determinism;
        if (r.could_not_run && is_out_of_time(subject, o)) {
            break;
        } else if (r.could_not_run) {
            note_not_run(o, &r);
        } else if (r.failed_clause >= 0) {
            note_failed(o, &record->trial, &r);
            o->reproduce = whole_command(o);
        }
    }
    return TK_OK;
}

/* Does compute-sanitizer watch? It knows NVIDIA's devices alone. */
static bool is_sanitized(const tki_outcome *o)
{
    if (o->kind != TKI_KERNEL_FILE || !o->options->kernel_file->backend->has_sanitizer)
        return false;
    return o->options->sanitize == TK_SANITIZE_ALWAYS ||
           (o->options->sanitize == TK_SANITIZE_BY_LEVEL && o->level >= TK_FULL);
}

static tk_status note_sanitized(tki_subject *subject, tki_outcome *o, const tki_trial *trial)
{
    const tki_sanitized *s = &o->sanitized;
    o->verdict = TK_REFUTED;
    o->failed_clause = tki_sanitize_clause(o->contract, s->report.kind);
    o->refuted[o->failed_clause] = true;
    snprintf(o->reason, sizeof o->reason, "%s: the kernel %s; compute-sanitizer %s: %s",
             o->contract->clauses[o->failed_clause].id, tki_sanitize_meaning(s->report.kind),
             tki_sanitizer_name(s->tool), s->report.text);
    if (!trial) {
        o->reproduce = whole_command(o);
    } else {
        tki_inputs inputs;
        tk_status status = tki_inputs_make(subject->ctx, trial, o->options, &inputs);
        if (status != TK_OK)
            return status;
        o->failed_trial = *trial;
        tki_trial given = *trial;
        given.family = TKI_GIVEN_INPUTS;
        given.seed = tki_trial_calls_seed(trial);
        o->reproduce = reproducing_command(o, trial, &given, &inputs, false);
        tki_inputs_free(&inputs);
    }
    return o->reproduce ? TK_OK : tki_fail(subject->ctx, TK_NO_MEMORY, "no memory for the reproducing command");
}

/* Some of the trials that held, watched by compute-sanitizer where it is found. */
static tk_status run_sanitized(tki_subject *subject, tki_outcome *o)
{
    enum { MOST = 24 };
    const tki_trial *list[MOST], *failed = NULL;
    tki_sanitize_trials chosen = {.list = list, .options = o->options};
    if (!o->sanitized.wanted)
        return TK_OK;
    report(o->options, 1, "compute-sanitizer");
    const tki_trial **all = calloc((size_t)o->trial_count + 1, sizeof *all);
    if (!all)
        return tki_fail(subject->ctx, TK_NO_MEMORY, "no memory for a list of trials");
    for (int64_t i = 0; i < o->trial_count; i++)
        all[i] = &o->trials[i].trial;
    tki_sanitize_choose(all, o->trial_count, o->options->seed, o->level == TK_QUICK ? 8 : MOST, &chosen);
    tk_status status = tki_sanitize(subject->ctx, o->options->kernel_file, o->contract, &chosen, &o->sanitized,
                                    &failed);
    if (status == TK_OK && o->sanitized.tool)
        status = note_sanitized(subject, o, failed);
    free(all);
    return status;
}

/* Bad indices: below zero, one past the end, far outside, and such as would be valid if only their low 32 bits counted; at the first, a
 * middle and the last position. */
static tk_status run_bad_indices(tki_subject *subject, tki_outcome *o)
{
    if (tki_clause_find(o->contract, TK_CLAUSE_INDEX) < 0 || !o->lowering)
        return TK_OK;
    static const int64_t size = 37;
    tki_trial trial = {.c = tki_outcome_case(o), .family = 0, .seed = o->options->seed};
    memcpy(trial.c.attributes, o->attributes, sizeof trial.c.attributes);
    for (int d = 0; d < o->contract->dim_count; d++)
        trial.c.dims[d] = size;
    const int64_t positions[] = {0, 17, size - 1};
    const bool wide = o->index_dtype == TK_I64;
    const int64_t values[] = {-1,
                              size,
                              wide ? INT64_MAX : INT32_MAX,
                              wide ? INT64_MIN + 5 : INT32_MIN,
                              (INT64_C(1) << 32) + 5,
                              5 - (INT64_C(1) << 32),
                              (INT64_C(1) << 48) + 1};
    for (int i = 0; i < (wide ? 21 : 12); i++) {
        tki_inputs inputs;
        tki_trial_result r;
        tk_status status = tki_inputs_make(subject->ctx, &trial, o->options, &inputs);
        if (status != TK_OK)
            return status;
        status = tki_trial_run_bad_index(subject, &trial, &inputs, positions[i % 3], values[i / 3], &r);
        if (status == TK_OK) {
            add_result(o, &trial, &inputs, &r);
            if (r.failed_clause >= 0) {
                note_failed(o, &trial, &r);
                o->reproduce = whole_command(o);
            }
        }
        tki_inputs_free(&inputs);
        if (status != TK_OK || o->verdict != TK_HELD)
            return status;
    }
    return TK_OK;
}

typedef struct mutants_progress {
    const tk_certify_options *options;
    double from;
} mutants_progress;

static void report_mutants(double done, const char *what, void *data)
{
    const mutants_progress *p = data;
    report(p->options, p->from + (1 - p->from) * done, what);
}

/* They are our own, and take seconds: once begun they are judged to the end, however little time the judgement has left. */
static tk_status run_mutants(tki_subject *subject, tki_outcome *o, double from)
{
    if (is_out_of_time(subject, o))
        return TK_OK;
    mutants_progress progress = {o->options, from};
    tk_status status = tki_mutants_judge(subject->ctx, o->contract, (tk_types){o->dtype, o->result_dtype},
                                         o->index_dtype, o->options->seed, report_mutants, &progress, &o->mutants,
                                         &o->mutant_count);
    o->mutants_run = status == TK_OK;
    for (int i = 0; i < o->mutant_count && o->verdict == TK_HELD; i++)
        if (!o->mutants[i].rejected) {
            o->verdict = TK_UNKNOWN;
            snprintf(o->reason, sizeof o->reason,
                     "the planted wrong kernel '%s' was not rejected, so the trials cannot tell",
                     o->mutants[i].mutant->name);
        }
    return status;
}

/* An exhaustive run proves the clauses about values; the others stay HELD. */
static void conclude(tki_outcome *o, int64_t trials)
{
    if (o->out_of_time && o->verdict != TK_REFUTED) {
        const bool all = o->tried >= trials; /* coverage may have found more */
        o->verdict = TK_UNKNOWN;
        snprintf(o->reason, sizeof o->reason,
                 "the whole judgement had %g seconds, and these were over when %lld of %lld trials were judged%s; "
                 "--total-timeout gives it longer",
                 o->total_seconds, (long long)(all ? trials : o->tried), (long long)trials,
                 all ? ", and not all that comes after them" : "");
    }
    if (o->verdict != TK_HELD)
        return;
    if (o->judgement.elements == 0) {
        o->verdict = TK_UNKNOWN;
        snprintf(o->reason, sizeof o->reason, "nothing was judged: no output of any trial has an element");
        return;
    }
    if (o->judgement.undefined > 0) {
        o->verdict = TK_UNKNOWN;
        snprintf(o->reason, sizeof o->reason, "the contract gives no bound for %lld of the elements judged",
                 (long long)o->judgement.undefined);
        return;
    }
    for (int i = 0; i < o->contract->clause_count && o->domain; i++)
        o->proved[i] = o->judgement.judged[i] > 0 && o->judgement.undecided == 0;
    if (o->domain && o->judgement.undecided == 0)
        o->verdict = TK_PROVED;
}

/* How often each trial is run again. A sum whose order is left to chance shows in few of the rounded bits, so sums run more often. */
static int suspicion_of(const tki_outcome *o)
{
    bool sums = false;
    for (int p = 0; p < o->contract->param_count; p++)
        sums |= !o->contract->params[p].output && o->contract->params[p].inner_axis >= 0;
    return o->level == TK_QUICK ? (sums ? 3 : 1) : (sums ? 6 : 3);
}

/* What the options ask for; else what the lowering promises. All trials get it. */
static tk_status choose_attributes(tk_ctx *ctx, tki_outcome *o, tki_trials *trials)
{
    tk_status status = tki_settings_read(ctx, o->contract, o->options, o->attributes);
    if (status != TK_OK)
        return status;
    if (tki_settings_has_numerics(o->contract)) {
        if (o->lowering && !tki_settings_ask_for(o->options, "numerics"))
            o->attributes[TKI_NUMERICS].integer = o->lowering->numerics;
        if (o->attributes[TKI_NUMERICS].integer == TKI_NUMERICS_TENSOR_CORE)
            o->attributes[TKI_MATRIX_UNIT].integer = tki_settings_matrix_unit(ctx, o->lowering, o->options);
    }
    for (int64_t i = 0; i < trials->count; i++)
        for (int a = 0; a < o->contract->attribute_count; a++)
            if (!o->contract->attributes[a].seen_by_kernel)
                trials->list[i].c.attributes[a] = o->attributes[a];
    return TK_OK;
}

/* The first call of the first process is of the other element type. In processes that are started later it is one of this type. */
static tk_status receive_visitor(tki_subject *subject, const tki_outcome *o)
{
    tki_trial trial = {.c = tki_outcome_case(o), .seed = o->options->seed};
    for (int d = 0; d < o->contract->dim_count; d++)
        trial.c.dims[d] = 5;
    return tki_trial_visit(subject, &trial);
}

static tk_status certify(tki_subject *subject, tki_outcome *o, tki_trials *trials)
{
    tki_executable executable;
    tk_ctx *ctx = subject->ctx;
    bool restricted = o->options->dims || o->options->family;
    bool planted = o->options->mutant || o->options->variant;
    bool with_mutants = !o->options->skip_mutants && !restricted && !planted;
    tk_status status = choose_executable(ctx, o, &executable);
    if (status == TK_OK)
        status = choose_attributes(ctx, o, trials);
    if (status == TK_OK)
        status = tki_executor_open(ctx, &executable, &subject->executor);
    if (status != TK_OK)
        return status;
    subject->lowering = o->lowering;
    o->sanitized.wanted = is_sanitized(o);
    if (o->kind == TKI_KERNEL_FILE) {
        subject->suspicion = suspicion_of(o);
        status = start_worker(subject, o, false);
        if (status == TK_OK && o->verdict == TK_HELD)
            status = receive_visitor(subject, o);
    }
    if (status == TK_OK) {
        o->trials = calloc((size_t)trials->count + TKI_FOUND_MORE, sizeof *o->trials);
        status = o->trials ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory for the record of trials");
    }
    if (status == TK_OK && subject->oracle->open) {
        status = subject->oracle->open(o->dtype, &subject->tables);
        if (status != TK_OK)
            status = tki_fail(ctx, status, "the oracle's tables: %s", tk_status_text(status));
    }
    double share = with_mutants ? 0.8 : 1.0;
    if (status == TK_OK && o->verdict == TK_HELD)
        status = run_trials(subject, o, trials, share);
    if (status == TK_OK && o->verdict == TK_HELD && !restricted)
        status = run_bad_indices(subject, o);
    if (status == TK_OK && o->verdict == TK_HELD && o->kind == TKI_KERNEL_FILE && !restricted)
        status = run_coverage(subject, o, trials);
    if (status == TK_OK && o->verdict == TK_HELD && o->kind == TKI_KERNEL_FILE)
        status = run_again(subject, o);
    if (status == TK_OK && o->verdict == TK_HELD && !o->out_of_time)
        status = run_sanitized(subject, o);
    if (status == TK_OK && with_mutants && (o->verdict == TK_HELD || o->kind != TKI_KERNEL_FILE))
        status = run_mutants(subject, o, share);
    if (status == TK_OK)
        conclude(o, trials->count);
    tki_worker_close(subject->executor.executable.worker);
    tki_executor_close(&subject->executor);
    return status;
}

/* A context that works on another device works on the right one for as long as this takes. */
static tk_status open_device(tk_ctx *ctx, const tk_certify_options *options, bool *opened)
{
    const tki_backend *backend = backend_of(options);
    *opened = false;
    if (options->kernel || options->kernel_file || options->mutant || options->variant || !backend ||
        !backend->is_gpu || backend == tki_ctx_backend(ctx))
        return TK_OK;
    if (ctx->gpu)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the context works on a %s device, not on %s",
                        tki_ctx_backend(ctx)->name, backend->name);
    tk_status status = tk_ctx_use_device(ctx, backend->name);
    *opened = status == TK_OK;
    return status;
}

static void close_device(tk_ctx *ctx)
{
    char message[sizeof ctx->message];
    memcpy(message, ctx->message, sizeof message);
    if (tk_ctx_use_device(ctx, "cpu") == TK_OK)
        memcpy(ctx->message, message, sizeof message);
}

tk_status tki_certify_trials_make(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                                  const tk_certify_options *options, tki_trials *trials)
{
    *trials = (tki_trials){0};
    tk_status status = check_options(ctx, contract, dtype, index_dtype, options);
    return status == TK_OK ? tki_trials_make(ctx, contract, dtype, index_dtype, options, trials) : status;
}

tk_status tki_certify_trials(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                             const tk_certify_options *options, tki_trials *trials, int64_t *held,
                             tk_certificate **certificate)
{
    double begin = tki_now();
    tki_outcome o = {.contract = contract,
                     .dtype = dtype,
                     .result_dtype = tki_result_dtype(dtype, options),
                     .index_dtype = index_dtype,
                     .options = options,
                     .level = options->level,
                     .verdict = TK_HELD,
                     .failed_clause = -1,
                     .determinism = TK_CROSS_DEVICE};
    const tk_case c = tki_outcome_case(&o);
    if (o.level == TK_EXHAUSTIVE && !tk_case_is_finite(&c))
        o.level = TK_FULL;
    tki_subject subject = {.ctx = ctx, .contract = contract, .oracle = tki_oracle_of(contract)};
    if (!subject.oracle)
        return tki_fail(ctx, TK_INTERNAL, "%s has no oracle", contract->name);
    bool opened;
    const double kept = ctx->deadline;
    const bool foreign = options->kernel_file || options->kernel_program;
    o.total_seconds = options->total_seconds > 0 ? options->total_seconds : foreign ? TKI_TOTAL_SECONDS : 0;
    if (o.total_seconds > 0)
        ctx->deadline = tki_ctx_deadline(ctx, o.total_seconds);
    tk_status status = open_device(ctx, options, &opened);
    /* Families and oracles work with this thread's number, and certificates may be made side by side. */
    const int teams = omp_get_max_threads();
    omp_set_num_threads(tki_ctx_threads(ctx));
    if (status == TK_OK)
        status = certify(&subject, &o, trials);
    omp_set_num_threads(teams);
    report(options, 1, "done");
    o.seconds = tki_now() - begin;
    ctx->deadline = kept;
    if (held)
        *held = o.held;
    if (status == TK_OK)
        status = tki_certificate_make(ctx, &o, certificate);
    if (opened)
        close_device(ctx);
    free(o.reproduce);
    free(o.trials);
    free(o.mutants);
    free(o.planted.kept);
    free(o.confinement);
    free(o.sanitized.confinement);
    tki_exploration_free(&o.exploration);
    return status;
}

tk_status tk_certify(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                     const tk_certify_options *options, tk_certificate **certificate)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!contract || !certificate)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no contract, or nowhere to put the certificate");
    *certificate = NULL;
    tki_trials trials = {0};
    tk_certify_options taken = TK_CERTIFY_DEFAULTS;
    tk_status status = tki_options_take(ctx, "tk_certify_options", options, &taken, sizeof taken);
    if (status == TK_OK)
        status = tki_certify_trials_make(ctx, contract, dtype, index_dtype, &taken, &trials);
    if (status == TK_OK)
        status = tki_certify_trials(ctx, contract, dtype, index_dtype, &taken, &trials, NULL, certificate);
    free(trials.list);
    return status;
}
