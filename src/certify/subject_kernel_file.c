/* RECORDS. A kernel file, or the plain loops of a definition: user kernels, and what is judged like them, run in a worker. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/reproduce.h"
#include "certify/subject.h"
#include "core/context.h"
#include "core/escape.h"
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
    if (o->kind == &tki_subject_plain)
        snprintf(o->subject, sizeof o->subject, TKI_PLAIN_ID "%s.%s.%s%s", o->backend->name, o->contract->name, types,
                 tki_id_ending(&c));
    else
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
        const bool flushes = o->fault.kind == TKI_FAULT_FLOAT_MODE && !(o->fault.mode & ~(unsigned)TKI_FLUSHES) &&
                             tki_attribute_of_role(o->contract, TK_ROLE_DOMAIN) >= 0;
        o->cause = (tki_cause){.kind = TKI_CAUSE_LOADING, .fits = flushes ? "normal" : NULL};
        return TK_OK;
    }
    if (status == TK_TIMEOUT)
        (void)tki_outcome_is_out_of_time(o, subject->ctx);
    if (status == TK_BAD_FILE || status == TK_TIMEOUT || status == TK_UNAVAILABLE || status == TK_KERNEL_FAULT) {
        o->verdict = TK_UNKNOWN;
        o->cause = (tki_cause){.kind = TKI_CAUSE_NO_KERNEL};
        snprintf(o->cause.words, sizeof o->cause.words, "%.*s", (int)sizeof o->cause.words - 1,
                 tk_ctx_message(subject->ctx));
        return TK_OK;
    }
    return status;
}

tk_status tki_subject_renew(tki_subject *subject, tki_outcome *o, bool guarded)
{
    return note_start(subject, o, tki_runner_renew(tki_runner_of(subject->caller), guarded));
}

static tk_status open_subject(tki_subject *subject, tki_outcome *o)
{
    const bool normal = tki_choice_of_role(o->contract, o->attributes, TK_ROLE_DOMAIN) == TKI_DOMAIN_NORMAL;
    tk_status status = tki_kernel_file_start(subject->ctx, o->options->kernel_file, o->contract, normal,
                                             tki_runner_of(subject->caller));
    subject->suspicion = suspicion_of(o);
    subject->visit = tki_trial_visit;
    if (status != TK_OK)
        return note_start(subject, o, status);
    o->loading = *tki_runner_loading(tki_runner_of(subject->caller));
    o->confinement = *tki_runner_confinement(tki_runner_of(subject->caller));
    return receive_visitor(subject, o);
}

/* The limits that were asked for, where they are not the defaults. */
static json_t *asked_json(const tk_limits *limits)
{
    json_t *json = json_object();
    const struct {
        const char *name;
        int64_t asked;
    } all[] = {{"memory_bytes", limits->memory_bytes},
               {"tasks", limits->tasks},
               {"output_bytes", limits->output_bytes},
               {"folder_depth", limits->folder_depth}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        json_object_set_new(json, all[i].name, all[i].asked ? json_integer(all[i].asked) : NULL);
    return json;
}

/* As hexadecimal digits, unless it is UTF-8. */
static json_t *path_bytes(const char *path)
{
    const size_t length = strlen(path);
    json_t *plain = json_string(path);
    char *hex = plain ? NULL : calloc(2 * length + 1, 1);
    for (size_t i = 0; hex && i < length; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)path[i]);
    json_t *bytes = hex ? json_string(hex) : NULL;
    json_decref(plain);
    free(hex);
    return bytes;
}

/* A kernel file as it was asked for. */
static json_t *kernel_file_json(const tk_kernel_file *kernel)
{
    json_t *json = json_pack("{s:o, s:s, s:i, s:o}", "file", tki_text_json(kernel->path), "backend",
                             kernel->backend->name, "device", kernel->device, "call_seconds",
                             tki_real_json(kernel->call_seconds));
    json_object_set_new(json, "file_bytes", path_bytes(kernel->path));
    json_object_set_new(json, "compiler", tki_text_json(kernel->compiler));
    json_object_set_new(json, "flags", tki_text_json(kernel->flags));
    json_object_set_new(json, "include", tki_text_json(kernel->include));
    json_t *asked = asked_json(&kernel->terms.limits);
    if (json_object_size(asked))
        json_object_set(json, "asked", asked);
    json_decref(asked);
    json_object_set_new(json, "library_alone", kernel->library_alone ? json_true() : NULL);
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

static void print_path(FILE *out, const json_t *kernel)
{
    const char *hex = tki_text(kernel, "file_bytes");
    const size_t length = strlen(hex) / 2;
    char *path = length ? calloc(length + 1, 1) : NULL;
    for (size_t i = 0; path && i < length; i++)
        path[i] = (char)strtoul((const char[]){hex[2 * i], hex[2 * i + 1], 0}, NULL, 16);
    char *shown = path ? tki_utf8(path) : NULL;
    /* Both have to be of the same file. */
    const bool same = shown && !strcmp(shown, tki_text(kernel, "file"));
    tki_print_option(out, "kernel", same ? path : tki_text(kernel, "file"));
    free(shown);
    free(path);
}

static void print_number(FILE *out, const char *option, const json_t *object, const char *name)
{
    if (json_object_get(object, name))
        fprintf(out, " --%s %lld", option, (long long)tki_integer(object, name));
}

static void print_kernel_file(FILE *out, const json_t *predicate, const json_t *kernel)
{
    static const char *const texts[] = {"compiler", "flags", "include"};
    const json_t *asked = json_object_get(kernel, "asked");
    const char *backend = tki_text(kernel, "backend");
    const bool is_library = !json_object_get(json_object_get(predicate, "built"), "source");
    const tki_backend *known = tki_backend_find(backend, "");
    const bool plain = !strcmp(tki_text(json_object_get(predicate, "run"), "kind"), tki_subject_plain.name);
    if (!plain)
        print_path(out, kernel);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (json_object_get(kernel, texts[i]))
            tki_print_option(out, texts[i], tki_text(kernel, texts[i]));
    if (json_is_true(json_object_get(kernel, "library_alone")))
        fputs(" --keep-artifact", out);
    print_number(out, "memory", asked, "memory_bytes");
    print_number(out, "tasks", asked, "tasks");
    print_number(out, "output-size", asked, "output_bytes");
    print_number(out, "folder-depth", asked, "folder_depth");
    if (tki_integer(kernel, "device"))
        fprintf(out, " --backend %s:%lld", backend, (long long)tki_integer(kernel, "device"));
    else if ((is_library || plain) && known && known->is_gpu)
        fprintf(out, " --backend %s", backend);
}

/* A case is judged at quick, where nothing is watched unless it is asked for. */
static void reproduce(const json_t *predicate, FILE *out)
{
    const json_t *run = json_object_get(predicate, "run");
    const char *sanitize = tki_text(run, "sanitize");
    const bool found = !strcmp(tki_text(json_object_get(predicate, "cause"), "kind"), "sanitizer");
    print_kernel_file(out, predicate, json_object_get(run, "kernel"));
    fputs(found || !strcmp(sanitize, "always") ? " --sanitize"
          : !strcmp(sanitize, "never")         ? " --no-sanitize"
                                               : "",
          out);
}

static tk_status trace(tk_ctx *ctx, const tki_outcome *o, tki_provenance *provenance)
{
    return tki_provenance_of_file(ctx, o->options->kernel_file, provenance);
}

const tki_subject_kind tki_subject_kernel_file = {"kernel", .is_user_kernel = true, .is_kernel_file = true,
                                                  TKI_SUBJECT_FUNCTIONS};
const tki_subject_kind tki_subject_plain = {"plain", .is_user_kernel = true, .is_kernel_file = true,
                                            TKI_SUBJECT_FUNCTIONS};
