/* RECORDS. A kernel file, which is a stranger's: it runs in a worker. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/reproduce.h"
#include "certify/subject.h"
#include "core/context.h"
#include "core/float_mode.h"
#include "kernel_file/kernel_file.h"
#include "model/attributes.h"
#include "trials/unjudged_call.h"

static tk_status choose(tk_ctx *ctx, tki_outcome *o)
{
    (void)ctx;
    const tk_case c = tki_outcome_case(o);
    char types[TKI_TYPES_TEXT];
    tki_outcome_types(o, types);
    o->backend = o->options->kernel_file->backend;
    snprintf(o->subject, sizeof o->subject, "kernel.%s.%s.%s.%s%s", o->backend->name, o->contract->name, types,
             o->options->kernel_file->name, tki_id_ending(&c));
    return TK_OK;
}

/* How often each trial is run again. A sum whose order is left to chance shows in few of the rounded bits, so sums run
 * more often. */
static int suspicion_of(const tki_outcome *o)
{
    bool sums = false;
    for (int p = 0; p < o->contract->param_count; p++)
        sums |= !o->contract->params[p].output && o->contract->params[p].inner_axis >= 0;
    return o->level == TK_QUICK ? (sums ? 3 : 1) : (sums ? 6 : 3);
}

/* The first call of the first process is of the other element type. In processes that are started later it is one of
 * this type. */
static tk_status receive_visitor(tki_subject *subject, const tki_outcome *o)
{
    tki_trial trial = {.c = tki_outcome_case(o), .seed = o->options->seed};
    for (int d = 0; d < o->contract->dim_count; d++)
        trial.c.dims[d] = 5;
    return tki_trial_visit(subject, &trial);
}

/* What a start came to. A kernel that cannot be had leaves the verdict UNKNOWN, one that crashes while it is loaded has
 * failed. */
static tk_status note_start(tki_subject *subject, tki_outcome *o, tk_status status)
{
    if (status != TK_OK)
        o->fault = subject->ctx->fault;
    if (status == TK_KERNEL_FAULT && !o->fault.killed) {
        o->verdict = TK_REFUTED;
        o->failed_clause = tki_clause_find(o->contract, tki_fault_clause(&o->fault));
        o->refuted[o->failed_clause] = true;
        const bool flushes = o->fault.kind == TKI_FAULT_FLOAT_MODE && tki_float_mode_flushes(o->fault.mode) &&
                             tki_attribute_of_role(o->contract, TK_ROLE_DOMAIN) >= 0;
        snprintf(o->reason, sizeof o->reason, "%s: %.600s%s", o->contract->clauses[o->failed_clause].id,
                 tk_ctx_message(subject->ctx), flushes ? "; --domain normal admits that" : "");
        o->reproduce = tki_reproduce_all(o);
        return o->reproduce ? TK_OK : tki_fail(subject->ctx, TK_NO_MEMORY, "no memory for the reproducing command");
    }
    if (status == TK_TIMEOUT)
        (void)tki_outcome_is_out_of_time(o, subject->ctx);
    if (status == TK_BAD_FILE || status == TK_TIMEOUT || status == TK_UNAVAILABLE || status == TK_KERNEL_FAULT) {
        o->verdict = TK_UNKNOWN;
        snprintf(o->reason, sizeof o->reason, "no kernel to run: %.700s", tk_ctx_message(subject->ctx));
        return TK_OK;
    }
    return status;
}

tk_status tki_subject_renew(tki_subject *subject, tki_outcome *o, bool guarded)
{
    return note_start(subject, o, tki_executor_renew(tki_executor_of(subject->caller), guarded));
}

static tk_status open_subject(tki_subject *subject, tki_outcome *o)
{
    const bool normal = tki_choice_of_role(o->contract, o->attributes, TK_ROLE_DOMAIN) == TKI_DOMAIN_NORMAL;
    tk_status status = tki_kernel_file_start(subject->ctx, o->options->kernel_file, o->contract, normal,
                                             tki_executor_of(subject->caller));
    subject->suspicion = suspicion_of(o);
    subject->visit = tki_trial_visit;
    if (status != TK_OK)
        return note_start(subject, o, status);
    o->loading = *tki_executor_loading(tki_executor_of(subject->caller));
    o->confinement = *tki_executor_confinement(tki_executor_of(subject->caller));
    return receive_visitor(subject, o);
}

/* A kernel file as it was asked for. */
static json_t *kernel_file_json(const tk_kernel_file *kernel)
{
    json_t *json = json_pack("{s:o, s:s, s:i, s:o}", "file", tki_text_json(kernel->path), "backend",
                             kernel->backend->name, "device", kernel->device, "call_seconds",
                             tki_real_json(kernel->call_seconds));
    json_object_set_new(json, "compiler", tki_text_json(kernel->compiler));
    json_object_set_new(json, "flags", tki_text_json(kernel->flags));
    json_object_set_new(json, "include", tki_text_json(kernel->include));
    if (kernel->copy.tree_hash[0]) {
        json_object_set_new(json, "files", json_integer(kernel->copy.files));
        json_object_set_new(json, "tree_sha256", json_string(kernel->copy.tree_hash));
    }
    return json;
}

static void describe(const tki_outcome *o, json_t *run)
{
    json_object_set_new(run, "kernel", kernel_file_json(o->options->kernel_file));
    if (o->options->sanitize != TK_SANITIZE_BY_LEVEL)
        json_object_set_new(run, "sanitize",
                            json_string(o->options->sanitize == TK_SANITIZE_ALWAYS ? "always" : "never"));
}

static void print_kernel_file(FILE *out, const tk_kernel_file *kernel)
{
    tki_print_option(out, "kernel", kernel->path);
    if (kernel->compiler)
        tki_print_option(out, "compiler", kernel->compiler);
    if (kernel->flags)
        tki_print_option(out, "flags", kernel->flags);
    if (kernel->include)
        tki_print_option(out, "include", kernel->include);
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

static void reproduce(const tki_outcome *o, FILE *out)
{
    print_kernel_file(out, o->options->kernel_file);
    print_sanitize(out, o);
}

static tk_status trace(tk_ctx *ctx, const tki_outcome *o, tki_provenance *provenance)
{
    return tki_provenance_of_file(ctx, o->options->kernel_file, provenance);
}

const tki_subject_kind tki_subject_kernel_file = {"kernel", .brought = true, .stranger = true, TKI_SUBJECT_FUNCTIONS};
