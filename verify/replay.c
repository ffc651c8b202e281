/* TRUSTED. Replay: a certificate's own fields say what to run; the output hashes say whether it came out the same. What this version
 * makes for those fields is all run, so that a trial left out of a certificate's list is seen to fail. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/case.h"
#include "core/context.h"
#include "core/limits.h"
#include "core/options.h"
#include "verify/agreement.h"
#include "verify/certificate.h"
#include "verify/certify.h"
#include "verify/families.h"
#include "verify/guard.h"
#include "verify/kernel_file.h"
#include "verify/memory.h"
#include "verify/outcome.h"
#include "verify/vetted.h"

/* What a replay runs, rebuilt from the certificate. */
typedef struct recipe {
    const tk_contract *contract;
    tk_dtype dtype, index_dtype;
    tk_certify_options options;
    int64_t dims[TK_MAX_DIMS];
    tk_xent_options xent;
    tk_setting settings[TK_MAX_ATTRIBUTES];
    tk_given_input inputs[TK_MAX_PARAMS];
    uint64_t *bits[TK_MAX_PARAMS];
    int64_t planted[TK_MAX_PLANTED];
    tk_kernel_file *kernel_file;
} recipe;

static void recipe_free(recipe *r)
{
    for (int i = 0; i < TK_MAX_PARAMS; i++)
        free(r->bits[i]);
    tk_kernel_file_close(r->kernel_file);
}

static bool dtype_named(const char *name, tk_dtype *dtype)
{
    for (int d = TK_F16; d <= TK_I64; d++)
        if (!strcmp(name, tk_dtype_name((tk_dtype)d))) {
            *dtype = (tk_dtype)d;
            return true;
        }
    return false;
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

static bool read_inputs(recipe *r, const json_t *inputs)
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

/* 0: as long as it takes, for what is no stranger's. */
static double total_seconds(const tk_certificate *certificate, const tk_replay_options *asked)
{
    const double recorded = tki_certificate_real(certificate, "run.limits.total_seconds");
    const bool kernel = !strcmp(tki_certificate_text(certificate, "run.kind"), "kernel");
    const double most = asked->total_seconds > 0 ? asked->total_seconds : kernel ? TKI_TOTAL_SECONDS : 0;
    return recorded > 0 && recorded < most ? recorded : most;
}

static tk_status choose_compiler(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *asked,
                                 char *path, size_t size, const char **compiler)
{
    const char *named = text_or_null(certificate, "run.kernel.compiler");
    *compiler = asked->compiler;
    if (asked->compiler || !named)
        return TK_OK;
    if (!tki_vetted_compiler(named, path, size))
        return tki_fail(
            ctx, TK_UNAVAILABLE,
            "the certificate names the compiler '%.200s', which is not the plain name of a compiler in a system "
            "folder: name one yourself (--compiler)",
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
        return tki_fail(ctx, TK_BAD_ARGUMENT, "these are not the flags of the certificate, which are '%.300s'",
                        *flags ? *flags : "");
    if (*flags && !asked->flags && !tki_vetted_flags(*flags, refused, sizeof refused))
        return tki_fail(
            ctx, TK_UNAVAILABLE,
            "the certificate has the flag '%s', which could do more than compile: look at all of its flags, "
            "and repeat them if they are to be used (--flags): '%.300s'",
            refused, *flags);
    return TK_OK;
}

/* One file can be compared with its SHA-256; a folder would have to be copied as a whole first. */
static tk_status check_folders(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *asked)
{
    const char *include = tki_certificate_text(certificate, "run.kernel.include");
    const char *path = tki_certificate_text(certificate, "run.kernel.file");
    if (include[0] && !asked->include)
        return tki_fail(
            ctx, TK_UNAVAILABLE,
            "the kernel has headers, from '%.200s' where it was certified: name your folder of them (--include)",
            include);
    if (!asked->kernel && !tki_language_of(NULL, path))
        return tki_fail(ctx, TK_UNAVAILABLE,
                        "the kernel is a folder, '%.200s' where it was certified: name yours (--kernel)", path);
    return TK_OK;
}

/* What ran where it was certified and cannot be run here: no other outcome, but none. */
static tk_status try_worker(tk_ctx *ctx, const tk_certificate *certificate, const recipe *r)
{
    tki_worker *worker;
    if (!tki_certificate_get(certificate, "worker"))
        return TK_OK;
    tk_status status = tki_kernel_file_start(ctx, r->kernel_file, r->contract, &worker);
    tki_worker_close(worker);
    return status == TK_UNAVAILABLE ? status : TK_OK;
}

/* The file that the certificate names, or the reader's own copy, if it is the one that was judged. */
static tk_status open_kernel_file(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *asked,
                                  recipe *r)
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
        .limits = lower_limits(certificate, &asked->limits),
        .allow_weak_sandbox = asked->allow_weak_sandbox,
        .sha256 = tki_certificate_text(certificate, compiled ? "built.source_sha256" : "built.artifact_sha256"),
        .tree_sha256 = tki_certificate_text(certificate, "run.kernel.tree_sha256")};
    const char *path = asked->kernel ? asked->kernel : tki_certificate_text(certificate, "run.kernel.file");
    tk_status status = check_folders(ctx, certificate, asked);
    if (status == TK_OK)
        status = choose_compiler(ctx, certificate, asked, compiler, sizeof compiler, &options.compiler);
    if (status == TK_OK)
        status = choose_flags(ctx, certificate, asked, &options.flags);
    if (status == TK_OK)
        status = tk_kernel_file_open(ctx, path, &options, &r->kernel_file);
    r->options.kernel_file = r->kernel_file;
    return status == TK_OK ? try_worker(ctx, certificate, r) : status;
}

/* Those that a certificate does not name are at their defaults. */
static void read_settings(const tk_certificate *certificate, recipe *r)
{
    for (int i = 0; i < r->contract->attribute_count; i++) {
        char path[64];
        snprintf(path, sizeof path, "run.%s", r->contract->attributes[i].name);
        const char *choice = text_or_null(certificate, path);
        if (choice && !r->contract->attributes[i].from_device)
            r->settings[r->options.setting_count++] = (tk_setting){r->contract->attributes[i].name, choice};
    }
    r->options.settings = r->settings;
}

/* All but the kernel file. */
static tk_status read_recipe(tk_ctx *ctx, const tk_certificate *certificate, recipe *r)
{
    const char *kind = tki_certificate_text(certificate, "run.kind");
    const char *op = tki_certificate_text(certificate, "run.op");
    *r = (recipe){.contract = tk_contract_find(op), .index_dtype = TK_I32};
    if (!strcmp(kind, "function"))
        return tki_fail(ctx, TK_UNAVAILABLE,
                        "the certificate is of a function that its program brought along; only that "
                        "program can run it again");
    if (!r->contract)
        return tki_fail(ctx, TK_UNAVAILABLE, "this build has no op '%s'", op);
    const char *index = tki_certificate_text(certificate, "run.index_dtype");
    if (!dtype_named(tki_certificate_text(certificate, "run.dtype"), &r->dtype) ||
        (index[0] && !dtype_named(index, &r->index_dtype)) ||
        !level_named(tki_certificate_text(certificate, "run.level"), &r->options.level))
        return tki_fail(ctx, TK_BAD_FILE, "the certificate names a dtype or a level that does not exist");
    r->options.seed = (uint64_t)tki_certificate_integer(certificate, "run.seed");
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
    else if (strcmp(kind, "kernel") != 0)
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
    if (tki_certificate_get(certificate, "run.options")) {
        r->xent = (tk_xent_options){
            .label_smoothing = (float)tki_certificate_real(certificate, "run.options.label_smoothing"),
            .scale = (float)tki_certificate_real(certificate, "run.options.scale"),
            .ignore_index = tki_certificate_integer(certificate, "run.options.ignore_index")};
        r->options.xent = &r->xent;
    }
    read_settings(certificate, r);
    const json_t *inputs = tki_certificate_get(certificate, "run.inputs");
    if (inputs && !read_inputs(r, inputs))
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the certificate's inputs");
    return TK_OK;
}

__attribute__((format(printf, 1, 2))) static char *describe(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : text;
}

/* What a trial of a certificate ran on, as text: everything but what came out. free() it; NULL when it is no
 * object or memory ran out. */
static char *trial_name(const json_t *trial)
{
    json_t *copy = tki_trial_without_results(trial);
    char *name = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    json_decref(copy);
    return name;
}

/* Where each trial stands in the plan, by its name; the chunks of a finite domain share one, and the first counts. A new reference;
 * NULL when memory ran out. */
static json_t *places_in(const tki_trials *plan)
{
    json_t *places = json_object();
    bool good = places != NULL;
    for (int64_t i = 0; i < plan->count && good; i++) {
        json_t *trial = tki_trial_json(&plan->list[i]);
        char *name = trial_name(trial);
        good = name && (json_object_get(places, name) || !json_object_set_new(places, name, json_integer(i)));
        free(name);
        json_decref(trial);
    }
    if (good)
        return places;
    json_decref(places);
    return NULL;
}

static bool is_complete(const tk_certificate *certificate)
{
    tk_verdict verdict = tk_certificate_verdict(certificate);
    return verdict == TK_HELD || verdict == TK_PROVED;
}

/* A certificate of another version may lack members that this one writes, and may put things in other words. */
static bool is_of_this_version(const tk_certificate *certificate)
{
    return !strcmp(tki_certificate_text(certificate, "tokitai"), tk_version());
}

static bool of_one_domain(const tki_trial *a, const tki_trial *b)
{
    return a->family == TKI_ALL_PATTERNS && b->family == TKI_ALL_PATTERNS;
}

/* A trial that stands in no list but was found by coverage says all that it is made of, but for what holds for the whole run: `like` has
 * that. False if it does not. */
static bool read_found(const tki_trial *like, const json_t *json, tki_trial *trial)
{
    const tk_contract *contract = like->c.contract;
    const json_t *options = json_object_get(json, "options");
    const json_t *planted = json_object_get(json, "planted");
    const char *family = json_string_value(json_object_get(json, "family"));
    const json_int_t threads = json_integer_value(json_object_get(json, "threads"));
    const json_int_t alignment = json_integer_value(json_object_get(json, "alignment"));
    *trial = (tki_trial){.c = like->c,
                         .family = family ? tki_family_find(family) : -1,
                         .seed = (uint64_t)json_integer_value(json_object_get(json, "seed")),
                         .found = true};
    for (int d = 0; d < contract->dim_count; d++)
        trial->c.dims[d] = json_integer_value(
            json_object_get(json_object_get(json, "shape"), contract->dim_names[d]));
    if (contract->takes_xent_options)
        trial->c.xent = (tk_xent_options){
            .label_smoothing = (float)json_number_value(json_object_get(options, "label_smoothing")),
            .scale = (float)json_number_value(json_object_get(options, "scale")),
            .ignore_index = json_integer_value(json_object_get(options, "ignore_index"))};
    trial->planted_count = (int)json_array_size(planted);
    if (!json_object_get(json, "found_by") || trial->family < 0 || json_array_size(planted) > TK_MAX_PLANTED ||
        threads < 0 || threads > TKI_MOST_THREADS || alignment < 0 || alignment > TKI_MOST_ALIGNMENT ||
        (alignment & (alignment - 1)))
        return false;
    for (int i = 0; i < trial->planted_count; i++)
        trial->planted[i] = json_integer_value(json_array_get(planted, (size_t)i));
    trial->threads = (int)threads;
    trial->alignment = (int)alignment;
    return true;
}

/* Copies the listed trials to `chosen`, in the certificate's order. `chosen` has place for the whole plan and the whole list, `taken`
 * says what of the plan was copied. False if one of them is not there; *difference says which. */
static bool choose_listed(tk_ctx *ctx, const json_t *listed, const tki_trials *plan, const json_t *places,
                          bool *taken, tki_trials *chosen, char **difference)
{
    enum { MOST_FOUND = 4 * TKI_FOUND_MORE }; /* each may come with others like it */
    int found_count = 0;
    for (size_t i = 0; i < json_array_size(listed); i++) {
        tki_trial found;
        if (found_count < MOST_FOUND && read_found(&plan->list[0], json_array_get(listed, i), &found) &&
            tki_case_check_shape(ctx, &found.c) == TK_OK) {
            chosen->list[chosen->count++] = found;
            found_count++;
            continue;
        }
        char *name = trial_name(json_array_get(listed, i));
        const json_t *place = name ? json_object_get(places, name) : NULL;
        int64_t p = place ? json_integer_value(place) : 0;
        if (!place || taken[p]) {
            *difference = describe("trial %zu, %s, %s", i, name ? name : "",
                                   place ? "is in the certificate twice" : "is none that this version makes");
            free(name);
            return false;
        }
        free(name);
        do {
            taken[p] = true;
            chosen->list[chosen->count++] = plan->list[p++];
        } while (p < plan->count && of_one_domain(&plan->list[p - 1], &plan->list[p]));
    }
    return true;
}

/* Of a run that did not end with its first failure all trials are listed but those that crashed, and the reason is that of the first which failed:
 * they have to come in their own order again. */
static bool keeps_order(const tk_certificate *certificate)
{
    return !is_complete(certificate) && is_of_this_version(certificate) &&
           json_is_true(tki_certificate_get(certificate, "run.keep_going"));
}

/* The whole plan, and behind it what coverage found. `chosen` has place for both. */
static void put_in_order(const tki_trials *plan, tki_trials *chosen)
{
    int64_t found = 0;
    for (int64_t i = 0; i < chosen->count; i++)
        if (chosen->list[i].found)
            chosen->list[found++] = chosen->list[i];
    memmove(chosen->list + plan->count, chosen->list, (size_t)found * sizeof *chosen->list);
    memcpy(chosen->list, plan->list, (size_t)plan->count * sizeof *chosen->list);
    chosen->count = plan->count + found;
}

/* The trials of the plan: first the *listed ones that the certificate lists, then the others. None are chosen if one of those is
 * missing; *difference says which, memory permitting. */
static tk_status choose(tk_ctx *ctx, const tk_certificate *certificate, const tki_trials *plan, tki_trials *chosen,
                        int64_t *listed, char **difference)
{
    const json_t *list = tki_certificate_get(certificate, "run.trials");
    json_t *places = places_in(plan);
    bool *taken = calloc((size_t)plan->count, sizeof *taken);
    *chosen = (tki_trials){.list = calloc((size_t)plan->count + json_array_size(list), sizeof *chosen->list)};
    bool good = places && taken && chosen->list;
    if (good && !choose_listed(ctx, list, plan, places, taken, chosen, difference)) {
        chosen->count = 0;
    } else if (good && keeps_order(certificate)) {
        put_in_order(plan, chosen);
    } else if (good && chosen->count == 0 && is_complete(certificate)) {
        *difference = describe("the certificate lists 0 trials");
    } else if (good) {
        *listed = chosen->count;
        for (int64_t i = 0; i < plan->count; i++)
            if (!taken[i])
                chosen->list[chosen->count++] = plan->list[i];
    }
    json_decref(places);
    free(taken);
    return good ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory for the certificate's trials");
}

/* What came of running the trials again. */
typedef struct rerun {
    tk_certificate *certificate; /* of the trials that are listed; NULL if there was nothing to run */
    tk_certificate *beyond;      /* of those that are not; NULL if there are none, or it did not come to that */
    char *failed;                /* the trial beyond the certificate's list that did not hold; NULL */
    bool other_file;             /* the kernel file was named by the reader */
} rerun;

static char *short_text(const json_t *value)
{
    enum { MOST = 160 };
    char *dumped = value ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_ENSURE_ASCII |
                                                 JSON_REAL_PRECISION(17))
                         : strdup("nothing");
    if (dumped && strlen(dumped) > MOST)
        strcpy(dumped + MOST - 4, " ...");
    return dumped;
}

/* *difference, memory permitting: this member came out otherwise. The first of its parts that did is named. */
static bool differ(const char *member, const json_t *old, const json_t *new, char **difference)
{
    char part[200];
    if (json_is_array(old) && json_array_size(old) == json_array_size(new))
        for (size_t i = 0; i < json_array_size(old); i++)
            if (!json_equal(json_array_get(old, i), json_array_get(new, i))) {
                snprintf(part, sizeof part, "%s[%zu]", member, i);
                return differ(part, json_array_get(old, i), json_array_get(new, i), difference);
            }
    const char *name;
    json_t *value;
    json_object_foreach(json_is_object(new) ? (json_t *)(uintptr_t)old : NULL, name, value)
    {
        if (!json_equal(value, json_object_get(new, name))) {
            snprintf(part, sizeof part, "%s.%.60s", member, name);
            return differ(part, value, json_object_get(new, name), difference);
        }
    }
    char *before = short_text(old), *now = short_text(new);
    *difference = describe("%s is now %s, the certificate says %s", member, now ? now : "", before ? before : "");
    free(before);
    free(now);
    return true;
}

static bool member_differs(const tk_certificate *before, const tk_certificate *after, const char *path,
                           char **difference)
{
    const json_t *old = tki_certificate_get(before, path), *new = tki_certificate_get(after, path);
    bool same = old && new ? json_equal(old, new) : !old && (!new || !is_of_this_version(before));
    return !same && differ(path, old, new, difference);
}

/* What was asked for: all that `run` says, but for the trials, which are compared one by one, and for what depends on the machine. */
static bool run_differs(const tk_certificate *before, const rerun *again, char **difference)
{
    static const char *const others[] = {"trials", "kernel", "limits", "refusals", "coverage"};
    const json_t *runs[] = {tki_certificate_get(before, "run"), tki_certificate_get(again->certificate, "run")};
    for (int side = 0; side < 2; side++) {
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)runs[side], name, value)
        {
            char path[96];
            bool other = again->other_file && !strcmp(name, "subject");
            for (size_t i = 0; i < sizeof others / sizeof *others; i++)
                other |= !strcmp(name, others[i]);
            snprintf(path, sizeof path, "run.%.80s", name);
            if (!other && member_differs(before, again->certificate, path, difference))
                return true;
        }
    }
    return false;
}

/* Each planted wrong kernel that is recorded: what is wrong with it, and whether it was rejected. */
static bool mutants_differ(const tk_certificate *before, const tk_certificate *after, char **difference)
{
    const json_t *old = tki_certificate_get(before, "mutants"), *new = tki_certificate_get(after, "mutants");
    static const char *const members[] = {"name", "what", "rejected"};
    for (size_t i = 0; i < json_array_size(old); i++) {
        const json_t *a = json_array_get(old, i), *b = NULL;
        for (size_t k = 0; k < json_array_size(new) && !b; k++)
            if (json_equal(json_object_get(a, "name"), json_object_get(json_array_get(new, k), "name")))
                b = json_array_get(new, k);
        for (size_t m = 0; m < sizeof members / sizeof *members; m++)
            if (!json_equal(json_object_get(a, members[m]), json_object_get(b, members[m])))
                return differ("a planted wrong kernel", a, b, difference);
    }
    if (is_of_this_version(before) && json_array_size(old) && json_array_size(old) != json_array_size(new)) {
        *difference = describe("%zu planted wrong kernels were run, the certificate lists %zu", json_array_size(new),
                               json_array_size(old));
        return true;
    }
    return false;
}

/* Which of its lines ran, as far as the same compiler was at work. A trial that was found and failed is in the list of the next run. */
static bool coverage_differs(const tk_certificate *before, const tk_certificate *after, char **difference)
{
    static const char *const paths[] = {"coverage.known", "coverage.lines"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (is_complete(before) && !json_is_false(tki_certificate_get(after, "run.coverage")) &&
            json_equal(tki_certificate_get(before, "built.compiler"), tki_certificate_get(after, "built.compiler")) &&
            member_differs(before, after, paths[i], difference))
            return true;
    return false;
}

/* Everything else that the trials listed came to. Times, dates, paths and what names machine and compiler do not count. */
static bool figures_differ(const tk_certificate *before, const rerun *again, char **difference)
{
    static const char *const paths[] = {"contract",
                                        "result.elements",
                                        "clauses",
                                        "result.ulp_histogram",
                                        "result.worst_ulp",
                                        "result.accepted",
                                        "result.bound_used",
                                        "result.absolute_error",
                                        "result.row_sum_error",
                                        "result.refined",
                                        "result.undecided",
                                        "result.undefined",
                                        "result.determinism",
                                        "result.refutation",
                                        "result.worst",
                                        "result.failure"};
    const tk_certificate *after = again->certificate;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (member_differs(before, after, paths[i], difference))
            return true;
    /* Where nothing could be run, the reason is the machine's. */
    bool ran = json_array_size(tki_certificate_get(after, "run.trials")) > 0;
    return (ran && member_differs(before, after, "reason", difference)) || run_differs(before, again, difference) ||
           mutants_differ(before, after, difference) || coverage_differs(before, after, difference);
}

/* A refuted run stops at its failure, and so does its replay. Where they differ, *difference says how, memory permitting. */
static bool same_outcome(const tk_certificate *before, const rerun *again, char **difference)
{
    const tk_certificate *after = again->certificate;
    const json_t *old_trials = tki_certificate_get(before, "run.trials");
    const json_t *new_trials = tki_certificate_get(after, "run.trials");
    size_t count = json_array_size(old_trials);
    for (size_t i = 0; i < count && i < json_array_size(new_trials); i++) {
        const json_t *a = json_array_get(old_trials, i);
        const json_t *b = json_array_get(new_trials, i);
        if (json_equal(a, b))
            continue;
        bool same_bits = json_equal(json_object_get(a, "output_sha256"), json_object_get(b, "output_sha256"));
        char *name = trial_name(b);
        *difference = describe("trial %zu, %s, %s", i, name ? name : "",
                               same_bits ? "has another number of elements" : "gives other output bits");
        free(name);
        return false;
    }
    if (again->failed) {
        const tk_certificate *failing = again->beyond ? again->beyond : after;
        *difference = describe("trial %s, which the certificate does not list, is %s: %s", again->failed,
                               tk_certificate_verdict(failing) == TK_REFUTED ? "refuted" : "not decided",
                               tk_certificate_reason(failing));
        return false;
    }
    const char *old_verdict = tki_certificate_text(before, "verdict");
    const bool proved = again->beyond && tk_certificate_verdict(again->beyond) == TK_PROVED;
    const char *new_verdict = proved ? tk_verdict_name(TK_PROVED) : tki_certificate_text(after, "verdict");
    if (strcmp(old_verdict, new_verdict) != 0) {
        *difference = describe("the verdict is now %s, it was %s", new_verdict, old_verdict);
        return false;
    }
    if (json_array_size(new_trials) < count) {
        *difference = describe("%zu trials ran, the certificate lists %zu", json_array_size(new_trials), count);
        return false;
    }
    if (figures_differ(before, again, difference))
        return false;
    char what[600];
    if (tki_certificate_contradicts(before, what, sizeof what)) {
        *difference = describe("the certificate contradicts itself: %s", what);
        return false;
    }
    return true;
}

/* Those of a level's own that are not for every machine are left out where memory is short; others are the certificate's word. */
static tk_status check_sizes(tk_ctx *ctx, const tki_trials *trials, const tk_replay_options *asked, bool kernel_file)
{
    const double most = asked->memory_gib > 0 ? asked->memory_gib : tki_free_gib() / 2;
    for (int64_t i = 0; i < trials->count; i++) {
        const double needed = tki_case_gib(&trials->list[i].c, kernel_file);
        if (!trials->list[i].where_memory_allows && needed > most)
            return tki_fail(
                ctx, TK_UNAVAILABLE,
                "a trial of the certificate needs %.1f GiB of memory, more than %.1f: allow it (--trial-memory)",
                needed, most);
    }
    return TK_OK;
}

/* Part of a list. */
static tki_trials part_of(const tki_trials *trials, int64_t first, int64_t count)
{
    return (tki_trials){.list = trials->list + first, .count = count};
}

static bool name_failed(const tki_trial *trial, rerun *again)
{
    json_t *json = tki_trial_json(trial);
    again->failed = trial_name(json);
    json_decref(json);
    return again->failed != NULL;
}

static size_t trial_count(const tk_certificate *certificate)
{
    return certificate ? json_array_size(tki_certificate_get(certificate, "run.trials")) : 0;
}

/* A certificate of one that held is of the trials that it lists: these first, so that all of its figures can be compared, and then the
 * others, which must hold. */
static tk_status run_complete(tk_ctx *ctx, const tk_certificate *certificate, const recipe *r,
                              const tki_trials *chosen, int64_t listed, rerun *again, int64_t *not_listed)
{
    tki_trials first = part_of(chosen, 0, listed), rest = part_of(chosen, listed, chosen->count - listed);
    tk_certify_options options = r->options;
    int64_t held = 0;
    tk_status status = tki_certify_trials(ctx, r->contract, r->dtype, r->index_dtype, &options, &first, &held,
                                          &again->certificate);
    /* Coverage has found more than is listed: that held, too, and the figures are those without it. */
    const size_t recorded = trial_count(certificate);
    if (status == TK_OK && is_complete(again->certificate) && trial_count(again->certificate) > recorded) {
        *not_listed += (int64_t)(trial_count(again->certificate) - recorded);
        tk_certificate_destroy(again->certificate);
        again->certificate = NULL;
        options.skip_coverage = true;
        status = tki_certify_trials(ctx, r->contract, r->dtype, r->index_dtype, &options, &first, &held,
                                    &again->certificate);
    }
    /* Where something else than a listed trial failed, that may be one of the others, which coverage came to first. */
    if (status != TK_OK || held < listed || !rest.count)
        return status;
    options = r->options;
    options.skip_mutants = true;
    held = 0;
    status = tki_certify_trials(ctx, r->contract, r->dtype, r->index_dtype, &options, &rest, &held, &again->beyond);
    if (status != TK_OK)
        return status;
    *not_listed += (int64_t)trial_count(again->beyond);
    tk_verdict verdict = tk_certificate_verdict(again->beyond);
    bool good = held == rest.count && (verdict == TK_HELD || verdict == TK_PROVED ||
                                       (verdict == TK_UNKNOWN && !tk_certificate_elements(again->beyond)));
    if (!good && !name_failed(&rest.list[held < rest.count ? held : rest.count - 1], again))
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a trial's name");
    return TK_OK;
}

/* Certifies again. If there is nothing to run, *difference says why. */
static tk_status run_recipe(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *asked,
                            const recipe *r, rerun *again, int64_t *not_listed, char **difference)
{
    tki_trials plan = {0};
    tki_trials chosen = {0};
    int64_t listed = 0;
    tk_status status = tki_certify_trials_make(ctx, r->contract, r->dtype, r->index_dtype, &r->options, &plan);
    if (status == TK_OK)
        status = choose(ctx, certificate, &plan, &chosen, &listed, difference);
    if (status == TK_OK)
        status = check_sizes(ctx, &chosen, asked, r->kernel_file != NULL);
    if (status == TK_OK && chosen.count > 0)
        /* Beyond the list of a certificate that stopped at a failure lies that very failure, if it was a crash: no list has those. */
        status = is_complete(certificate) && listed
                     ? run_complete(ctx, certificate, r, &chosen, listed, again, not_listed)
                     : tki_certify_trials(ctx, r->contract, r->dtype, r->index_dtype, &r->options, &chosen, NULL,
                                          &again->certificate);
    free(plan.list);
    free(chosen.list);
    /* A lowering or planted kernel that this build does not have. */
    return status == TK_BAD_ARGUMENT ? TK_UNAVAILABLE : status;
}

/* How many trials this version makes on every machine for what the certificate says was run, and how many of these it lists. 0 of 0 if that
 * is not known here, or it stopped at a failure. */
static void count_listed(tk_ctx *ctx, const tk_certificate *certificate, int64_t *listed, int64_t *made)
{
    recipe r = {0};
    tki_trials plan = {0};
    json_t *names = json_object();
    const json_t *trials = tki_certificate_get(certificate, "run.trials");
    const bool known = names && is_complete(certificate) && read_recipe(ctx, certificate, &r) == TK_OK &&
                       tki_certify_trials_make(ctx, r.contract, r.dtype, r.index_dtype, &r.options, &plan) == TK_OK;
    for (size_t i = 0; known && i < json_array_size(trials); i++) {
        char *name = trial_name(json_array_get(trials, i));
        if (name)
            json_object_set_new(names, name, json_true());
        free(name);
    }
    for (int64_t i = 0; known && i < plan.count; i++) {
        if (plan.list[i].where_memory_allows || (i && of_one_domain(&plan.list[i - 1], &plan.list[i])))
            continue;
        json_t *trial = tki_trial_json(&plan.list[i]);
        char *name = trial_name(trial);
        ++*made;
        *listed += name && json_object_get(names, name);
        free(name);
        json_decref(trial);
    }
    free(plan.list);
    json_decref(names);
    recipe_free(&r);
}

tk_status tk_certificate_remarks(tk_ctx *ctx, const tk_certificate *certificate, char **remarks)
{
    int64_t listed = 0, made = 0;
    char what[300], lists[120] = "";
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!certificate || !remarks)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no certificate, or nowhere to put the answer");
    *remarks = NULL;
    const char *form = tki_certificate_get(certificate, "headline") ? "" : "written in an earlier form";
    const char *contract = tki_certificate_has_other_contract(certificate, what, sizeof what) ? "of another contract"
                                                                                              : "";
    count_listed(ctx, certificate, &listed, &made);
    if (listed < made)
        snprintf(lists, sizeof lists, "lists %lld of the %lld trials that this version makes for it",
                 (long long)listed, (long long)made);
    if (!form[0] && !contract[0] && !lists[0])
        return TK_OK;
    *remarks = describe("%s%s%s%s%s", form, form[0] && contract[0] ? ", " : "", contract,
                        (form[0] || contract[0]) && lists[0] ? ", " : "", lists);
    return *remarks ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory for a remark");
}

/* Is it for want of time that nothing was decided? */
static bool ends_early(const tk_ctx *ctx, const rerun *again)
{
    const tk_certificate *last = again->beyond ? again->beyond : again->certificate;
    return last && tk_certificate_verdict(last) == TK_UNKNOWN && tki_ctx_out_of_time(ctx);
}

tk_status tk_certificate_replay(tk_ctx *ctx, const tk_certificate *certificate, const tk_replay_options *given,
                                bool *same, int64_t *not_listed, char **difference)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!certificate || !same)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no certificate, or nowhere to put the answer");
    *same = false;
    if (not_listed)
        *not_listed = 0;
    if (difference)
        *difference = NULL;
    tk_replay_options options = TK_REPLAY_DEFAULTS;
    tk_status status = tki_options_take(ctx, "tk_replay_options", given, &options, sizeof options);
    if (status != TK_OK)
        return status;
    recipe r;
    rerun again = {.other_file = options.kernel != NULL};
    char *text = NULL;
    int64_t more = 0;
    const double total = total_seconds(certificate, &options), kept = ctx->deadline;
    status = tki_limits_check(ctx, &options.limits);
    if (status != TK_OK)
        return status;
    if (total > 0)
        ctx->deadline = tki_ctx_deadline(ctx, total);
    status = read_recipe(ctx, certificate, &r);
    r.options.total_seconds = total;
    if (status == TK_OK && !strcmp(tki_certificate_text(certificate, "run.kind"), "kernel"))
        status = open_kernel_file(ctx, certificate, &options, &r);
    r.options.progress = options.progress;
    r.options.progress_data = options.progress_data;
    if (status == TK_OK)
        status = run_recipe(ctx, certificate, &options, &r, &again, &more, &text);
    recipe_free(&r);
    if (status == TK_OK && ends_early(ctx, &again))
        status = tki_fail(
            ctx, TK_TIMEOUT,
            "the replay had %g seconds, and these were over before it was done; --total-timeout gives it "
            "longer",
            total);
    ctx->deadline = kept;
    if (status == TK_OK && again.certificate)
        *same = same_outcome(certificate, &again, &text);
    if (*same && not_listed)
        *not_listed = more;
    tk_certificate_destroy(again.certificate);
    tk_certificate_destroy(again.beyond);
    free(again.failed);
    if (status == TK_OK && difference)
        *difference = text;
    else
        free(text);
    return status;
}
