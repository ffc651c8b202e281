/* RECORDS. What a replay runs, rebuilt from the certificate. What a certificate names is somebody else's word:
 * certify/vetted_flags.h says what of it is taken, and limits are lowered by it, never raised. */
#include "certify/replay_recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/subject.h"
#include "certify/vetted_flags.h"
#include "core/context.h"
#include "core/limits.h"
#include "kernel_file/kernel_file.h"
#include "model/case.h"

void tki_recipe_free(tki_recipe *r)
{
    for (int i = 0; i < TK_MAX_PARAMS; i++)
        free(r->bits[i]);
    tk_kernel_file_close(r->kernel_file);
}

static bool index_named(const char *name, tk_dtype *dtype)
{
    *dtype = !strcmp(name, tk_dtype_name(TK_I64)) ? TK_I64 : TK_I32;
    return !strcmp(name, tk_dtype_name(*dtype));
}

static bool level_named(const char *name, tk_level *level)
{
    for (int l = TK_QUICK; l <= TK_EXHAUSTIVE; l++)
        if (!strcmp(name, tk_level_name((tk_level)l))) {
            *level = (tk_level)l;
            return true;
        }
    return false;
}

static bool read_inputs(tki_recipe *r, const json_t *inputs)
{
    const char *name;
    json_t *values;
    json_object_foreach((json_t *)(uintptr_t)inputs, name, values)
    {
        if (r->options.input_count == TK_MAX_PARAMS)
            return false;
        size_t count = json_array_size(values);
        uint64_t *bits = malloc((count + 1) * sizeof *bits);
        if (!bits)
            return false;
        for (size_t i = 0; i < count; i++)
            bits[i] = (uint64_t)json_integer_value(json_array_get(values, i));
        r->bits[r->options.input_count] = bits;
        r->inputs[r->options.input_count++] = (tk_given_input){.name = name, .bits = bits, .count = (int64_t)count};
    }
    r->options.inputs = r->inputs;
    return true;
}

static const char *text_or_null(const tk_certificate *certificate, const char *path)
{
    return tki_certificate_get(certificate, path) ? tki_certificate_text(certificate, path) : NULL;
}

/* Shorter if the certificate says so, never longer. */
static double call_seconds(const tk_certificate *certificate, const tk_replay_options *asked)
{
    double recorded = tki_certificate_real(certificate, "run.kernel.call_seconds");
    double most = asked->call_seconds > 0 ? asked->call_seconds : 60;
    return recorded > 0 && recorded < most ? recorded : most;
}

static int64_t lower(const tk_certificate *certificate, const char *path, int64_t least, int64_t own)
{
    const int64_t recorded = tki_certificate_integer(certificate, path);
    return recorded >= least && recorded < own ? recorded : own;
}

/* Lower if the certificate says so, never higher. */
static tk_limits lower_limits(const tk_certificate *certificate, const tk_limits *asked)
{
    const tk_limits own = tki_limits_of(asked);
    return (tk_limits){
        .memory_bytes = lower(certificate, "run.limits.memory_bytes", TK_LEAST_MEMORY, own.memory_bytes),
        .output_bytes = lower(certificate, "run.limits.output_bytes", TK_LEAST_OUTPUT, own.output_bytes),
        .tasks = (int)lower(certificate, "run.limits.tasks", 1, own.tasks),
        .folder_depth = (int)lower(certificate, "run.limits.folder_depth", 1, own.folder_depth)};
}

static tk_status choose_compiler(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *asked,
                                 char *path, size_t size, const char **compiler)
{
    const char *named = text_or_null(certificate, "run.kernel.compiler");
    *compiler = asked->compiler;
    if (asked->compiler || !named)
        return TK_OK;
    if (!tki_vetted_compiler(named, path, size))
        return tki_fail(ctx, TK_UNAVAILABLE,
                        "the certificate's compiler '%.200s' is not the plain name of a compiler in a system folder; "
                        "name one with --compiler",
                        named);
    *compiler = path;
    return TK_OK;
}

static tk_status choose_flags(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *asked,
                              const char **flags)
{
    char refused[80];
    *flags = text_or_null(certificate, "run.kernel.flags");
    if (asked->flags && strcmp(asked->flags, *flags ? *flags : "") != 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "--flags differs from the certificate's flags '%.300s'",
                        *flags ? *flags : "");
    if (*flags && !asked->flags && !tki_vetted_flags(*flags, refused, sizeof refused))
        return tki_fail(ctx, TK_UNAVAILABLE,
                        "the certificate's flag '%s' could do more than compile; to accept all of its flags, pass "
                        "them with --flags: '%.300s'",
                        refused, *flags);
    return TK_OK;
}

/* One file can be compared with its SHA-256; a folder would have to be copied as a whole first. */
static tk_status check_folders(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *asked)
{
    const char *include = tki_certificate_text(certificate, "run.kernel.include");
    const char *path = tki_certificate_text(certificate, "run.kernel.file");
    if (include[0] && !asked->include)
        return tki_fail(ctx, TK_UNAVAILABLE,
                        "the kernel has headers (from '%.200s' when certified); name their folder with --include",
                        include);
    if (!asked->kernel && !tki_language_of(NULL, path))
        return tki_fail(ctx, TK_UNAVAILABLE,
                        "the kernel is a folder ('%.200s' when certified); name it with --kernel", path);
    return TK_OK;
}

/* What ran where it was certified and cannot be run here: no other outcome, but none. */
static tk_status try_worker(tk_ctx *ctx, const tk_certificate *certificate, const tki_recipe *r)
{
    tki_runner runner;
    if (!tki_certificate_get(certificate, "worker"))
        return TK_OK;
    tk_status status = tki_kernel_file_start(ctx, r->kernel_file, r->contract, true, &runner);
    tki_runner_close(&runner);
    return status == TK_UNAVAILABLE ? status : TK_OK;
}

tk_status tki_recipe_open_kernel_file(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *asked,
                                      tki_recipe *r)
{
    char backend[32], compiler[4096];
    snprintf(backend, sizeof backend, "%.8s:%d", tki_certificate_text(certificate, "run.kernel.backend"),
             (int)tki_certificate_integer(certificate, "run.kernel.device"));
    bool compiled = tki_certificate_get(certificate, "built.source") != NULL;
    tk_kernel_file_options options = {
        .size = sizeof options,
        .backend = backend,
        .include = asked->include,
        .call_seconds = call_seconds(certificate, asked),
        .library_alone = json_is_true(tki_certificate_get(certificate, "run.kernel.library_alone")),
        .limits = lower_limits(certificate, &asked->limits),
        .allow_weak_sandbox = asked->allow_weak_sandbox,
        .sha256 = tki_certificate_text(certificate, compiled ? "built.source_sha256" : "built.artifact_sha256"),
        .tree_sha256 = tki_certificate_text(certificate, "run.kernel.tree_sha256")};
    const char *path = asked->kernel ? asked->kernel : tki_certificate_text(certificate, "run.kernel.file");
    const bool plain = !strcmp(tki_certificate_text(certificate, "run.kind"), tki_subject_plain.name);
    tk_status status = check_folders(ctx, certificate, asked);
    if (status == TK_OK)
        status = choose_compiler(ctx, certificate, asked, compiler, sizeof compiler, &options.compiler);
    if (status == TK_OK)
        status = choose_flags(ctx, certificate, asked, &options.flags);
    if (status == TK_OK)
        status = plain && !asked->kernel ? tk_kernel_file_plain(ctx, r->contract, &options, &r->kernel_file)
                                         : tk_kernel_file_open(ctx, path, &options, &r->kernel_file);
    if (status == TK_OK)
        r->kernel_file->plain = plain;
    r->options.kernel_file = r->kernel_file;
    return status == TK_OK ? try_worker(ctx, certificate, r) : status;
}

tk_value tki_recipe_value(const tk_attribute *attribute, const json_t *json)
{
    const char *name = json_string_value(json);
    const double number = json_number_value(json);
    switch (attribute->type) {
    case TK_ATTRIBUTE_REAL: return (tk_value){.real = attribute->fp32 ? (double)(float)number : number};
    case TK_ATTRIBUTE_INTEGER: return (tk_value){.integer = json_integer_value(json)};
    case TK_ATTRIBUTE_CHOICE: break;
    }
    return (tk_value){.integer = name ? tk_choice_find(attribute, name) : -1};
}

void tki_recipe_settings(const json_t *run, const tk_contract *contract, tk_value attributes[TK_MAX_ATTRIBUTES])
{
    for (int i = 0; i < contract->attribute_count; i++) {
        const tk_attribute *attribute = &contract->attributes[i];
        const json_t *value = tki_run_setting(run, attribute);
        attributes[i] = value ? tki_recipe_value(attribute, value) : attribute->initial;
        if (!tki_attribute_allows(attribute, attributes[i]))
            attributes[i] = attribute->initial;
    }
}

/* Those that a certificate does not name are at their defaults. */
static void read_settings(const tk_certificate *certificate, tki_recipe *r)
{
    const json_t *run = tki_certificate_get(certificate, "run");
    for (int i = 0; i < r->contract->attribute_count; i++) {
        const tk_attribute *attribute = &r->contract->attributes[i];
        const json_t *value = tki_run_setting(run, attribute);
        if (!value || attribute->role == TK_ROLE_MATRIX_UNIT)
            continue;
        tk_attribute_print(attribute, tki_recipe_value(attribute, value), r->values[i], sizeof r->values[i]);
        r->settings[r->options.setting_count++] = (tk_setting){attribute->name, r->values[i]};
    }
    r->options.settings = r->settings;
}

tk_status tki_recipe_read(tk_ctx *ctx, const tk_certificate *certificate, tki_recipe *r)
{
    const char *kind = tki_certificate_text(certificate, "run.kind");
    const char *op = tki_certificate_text(certificate, "run.op");
    const tk_status defined = tki_certificate_define(ctx, certificate);
    if (defined != TK_OK)
        return defined;
    *r = (tki_recipe){.contract = tki_certificate_contract(ctx, certificate), .index_dtype = TK_I32};
    if (!r->contract)
        return tki_fail(ctx, TK_UNAVAILABLE,
                        "unknown op '%s'; the program that registers it can replay this certificate", op);
    const char *index = tki_certificate_text(certificate, "run.index_dtype");
    tk_types types;
    if (!tk_types_parse(tki_certificate_text(certificate, "run.dtype"), &types) ||
        (index[0] && !index_named(index, &r->index_dtype)) ||
        !level_named(tki_certificate_text(certificate, "run.level"), &r->options.level))
        return tki_fail(ctx, TK_BAD_FILE, "the certificate has an unknown dtype or level");
    r->dtype = types.dtype;
    r->result_dtype = types.result_dtype;
    r->options.result_dtype = &r->result_dtype;
    r->options.seed = (uint64_t)tki_certificate_integer(certificate, "run.seed");
    r->mutants_seed = tki_certificate_get(certificate, "run.mutants")
                          ? (uint64_t)tki_certificate_integer(certificate, "run.mutants.seed")
                          : r->options.seed;
    r->options.skip_mutants = json_array_size(tki_certificate_get(certificate, "mutants")) == 0;
    r->options.keep_going = json_is_true(tki_certificate_get(certificate, "run.keep_going"));
    const char *sanitize = tki_certificate_text(certificate, "run.sanitize");
    r->options.sanitize = !strcmp(sanitize, "always")  ? TK_SANITIZE_ALWAYS
                          : !strcmp(sanitize, "never") ? TK_SANITIZE_NEVER
                                                       : TK_SANITIZE_BY_LEVEL;
    r->options.skip_coverage = json_is_false(tki_certificate_get(certificate, "run.coverage"));
    if (!strcmp(kind, "mutant"))
        r->options.mutant = tki_certificate_text(certificate, "run.mutant");
    else if (!strcmp(kind, "variant"))
        r->options.variant = tki_certificate_text(certificate, "run.variant");
    else if (!strcmp(kind, "lowering"))
        r->options.lowering = tk_certificate_subject(certificate);
    const json_t *shape = tki_certificate_get(certificate, "run.shape");
    for (int d = 0; shape && d < r->contract->dim_count; d++)
        r->dims[d] = json_integer_value(json_object_get(shape, r->contract->dim_names[d]));
    if (shape)
        r->options.dims = r->dims;
    r->options.call_threads = (int)tki_certificate_integer(certificate, "run.threads");
    r->options.alignment = (int)tki_certificate_integer(certificate, "run.alignment");
    const json_t *planted = tki_certificate_get(certificate, "run.planted");
    for (size_t i = 0; i < json_array_size(planted) && i < TK_MAX_PLANTED; i++)
        r->planted[r->options.planted_count++] = json_integer_value(json_array_get(planted, i));
    r->options.planted = r->planted;
    if (tki_certificate_get(certificate, "run.family"))
        r->options.family = tki_certificate_text(certificate, "run.family");
    read_settings(certificate, r);
    const json_t *inputs = tki_certificate_get(certificate, "run.inputs");
    if (inputs && !read_inputs(r, inputs))
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the certificate's inputs");
    return TK_OK;
}
