/* TRUSTED. Replay: a certificate's own fields say what to run; the output hashes say whether it came out the same. What this version
 * makes for those fields is all run, so that a trial left out of a certificate's list is seen to fail. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/case.h"
#include "core/context.h"
#include "verify/certificate.h"
#include "verify/certify.h"
#include "verify/families.h"
#include "verify/guard.h"
#include "verify/kernel_file.h"
#include "verify/outcome.h"

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

/* The file that the certificate names, if it is still the one that was judged. */
static tk_status open_kernel_file(tk_ctx *ctx, const tk_certificate *certificate, recipe *r)
{
    char backend[32];
    snprintf(backend, sizeof backend, "%.8s:%d", tki_certificate_text(certificate, "run.kernel.backend"),
             (int)tki_certificate_integer(certificate, "run.kernel.device"));
    tk_kernel_file_options options = {.backend = backend,
                                      .compiler = text_or_null(certificate, "run.kernel.compiler"),
                                      .flags = text_or_null(certificate, "run.kernel.flags"),
                                      .include = text_or_null(certificate, "run.kernel.include"),
                                      .call_seconds = tki_certificate_real(certificate, "run.kernel.call_seconds")};
    const char *path = tki_certificate_text(certificate, "run.kernel.file");
    tk_status status = tk_kernel_file_open(ctx, path, &options, &r->kernel_file);
    if (status != TK_OK)
        return status;
    bool compiled = tki_certificate_get(certificate, "built.source") != NULL;
    const char *hash = tki_certificate_text(certificate, compiled ? "built.source_sha256" : "built.artifact_sha256");
    if (strcmp(r->kernel_file->copy.file_hash, hash) != 0)
        return tki_fail(ctx, TK_UNAVAILABLE, "%s is not the file that was certified: its SHA-256 is another", path);
    if (strcmp(r->kernel_file->copy.tree_hash, tki_certificate_text(certificate, "run.kernel.tree_sha256")) != 0)
        return tki_fail(ctx, TK_UNAVAILABLE,
                        "the files of %s are not those that were certified: their SHA-256 is another", path);
    r->options.kernel_file = r->kernel_file;
    return TK_OK;
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
    r->options.skip_mutants = true;
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
    return strcmp(kind, "kernel") != 0 ? TK_OK : open_kernel_file(ctx, certificate, r);
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
    static const char *const results[] = {"elements", "output_sha256", "chunks"};
    json_t *copy = json_copy((json_t *)(uintptr_t)trial);
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        json_object_del(copy, results[i]);
    char *name = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS);
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
    for (size_t i = 0; i < json_array_size(listed); i++) {
        tki_trial found;
        if (read_found(&plan->list[0], json_array_get(listed, i), &found) &&
            tki_case_check_shape(ctx, &found.c) == TK_OK) {
            chosen->list[chosen->count++] = found;
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
    tk_certificate *certificate; /* NULL if there was nothing to run */
    char *failed;                /* the trial beyond the certificate's list that did not hold; NULL */
} rerun;

static int64_t elements_from(const json_t *trials, size_t first)
{
    int64_t elements = 0;
    for (size_t i = first; i < json_array_size(trials); i++)
        elements += json_integer_value(json_object_get(json_array_get(trials, i), "elements"));
    return elements;
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
        *difference = describe("trial %s, which the certificate does not list, is %s: %s", again->failed,
                               tk_certificate_verdict(after) == TK_REFUTED ? "refuted" : "not decided",
                               tk_certificate_reason(after));
        return false;
    }
    const char *old_verdict = tki_certificate_text(before, "verdict");
    const char *new_verdict = tki_certificate_text(after, "verdict");
    if (strcmp(old_verdict, new_verdict) != 0) {
        *difference = describe("the verdict is now %s, it was %s", new_verdict, old_verdict);
        return false;
    }
    if (json_array_size(new_trials) < count) {
        *difference = describe("%zu trials ran, the certificate lists %zu", json_array_size(new_trials), count);
        return false;
    }
    int64_t elements = tk_certificate_elements(after) - elements_from(new_trials, count);
    if (is_complete(before) && elements != tk_certificate_elements(before)) {
        *difference = describe("%lld elements were judged, the certificate says %lld", (long long)elements,
                               (long long)tk_certificate_elements(before));
        return false;
    }
    return true;
}

/* Certifies again. If there is nothing to run, *difference says why. */
static tk_status run_recipe(tk_ctx *ctx, const tk_certificate *certificate, const recipe *r, rerun *again,
                            char **difference)
{
    tki_trials plan = {0};
    tki_trials chosen = {0};
    int64_t listed = 0;
    int64_t held = 0;
    tk_status status = tki_certify_trials_make(ctx, r->contract, r->dtype, r->index_dtype, &r->options, &plan);
    if (status == TK_OK)
        status = choose(ctx, certificate, &plan, &chosen, &listed, difference);
    if (status == TK_OK && chosen.count > 0)
        status = tki_certify_trials(ctx, r->contract, r->dtype, r->index_dtype, &r->options, &chosen, &held,
                                    &again->certificate);
    /* Beyond the list of a certificate that stopped at a failure lies that very failure, if it was a crash: no list has those. */
    if (status == TK_OK && is_complete(certificate) && held >= listed && held < chosen.count) {
        json_t *trial = tki_trial_json(&chosen.list[held]);
        again->failed = trial_name(trial);
        json_decref(trial);
        if (!again->failed)
            status = tki_fail(ctx, TK_NO_MEMORY, "no memory for a trial's name");
    }
    free(plan.list);
    free(chosen.list);
    /* A lowering or planted kernel that this build does not have. */
    return status == TK_BAD_ARGUMENT ? TK_UNAVAILABLE : status;
}

tk_status tk_certificate_replay(tk_ctx *ctx, const tk_certificate *certificate, tk_progress progress,
                                void *progress_data, bool *same, int64_t *not_listed, char **difference)
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
    recipe r;
    rerun again = {0};
    char *text = NULL;
    tk_status status = read_recipe(ctx, certificate, &r);
    r.options.progress = progress;
    r.options.progress_data = progress_data;
    if (status == TK_OK)
        status = run_recipe(ctx, certificate, &r, &again, &text);
    recipe_free(&r);
    if (status == TK_OK && again.certificate)
        *same = same_outcome(certificate, &again, &text);
    if (*same && not_listed && is_complete(certificate))
        *not_listed = (int64_t)(json_array_size(tki_certificate_get(again.certificate, "run.trials")) -
                                json_array_size(tki_certificate_get(certificate, "run.trials")));
    tk_certificate_destroy(again.certificate);
    free(again.failed);
    if (status == TK_OK && difference)
        *difference = text;
    else
        free(text);
    return status;
}
