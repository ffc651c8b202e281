/* RECORDS. tk_certify: what is asked for is checked, a campaign decides, and the outcome becomes a certificate. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <omp.h>

#include "certify/campaign.h"
#include "certify/certify.h"
#include "certify/subject.h"
#include "core/clock.h"
#include "core/context.h"
#include "core/limits.h"
#include "core/sized_options.h"
#include "judge/guard.h"
#include "model/case.h"
#include "model/op.h"
#include "trials/attribute_settings.h"
#include "trials/families.h"
#include "trials/op_registry.h"

enum { MOST_THREADS = 65536 };

const char *tk_verdict_name(tk_verdict verdict)
{
    static const char *const names[] = {"PROVED", "HELD", "REFUTED", "UNKNOWN"};
    return (unsigned)verdict < sizeof names / sizeof *names ? names[verdict] : "UNKNOWN";
}

const char *tk_level_name(tk_level level)
{
#define NAMED(id, name) [id] = name,
    static const char *const names[] = {TK_LEVELS(NAMED, )};
    return (unsigned)level < sizeof names / sizeof *names ? names[level] : "unknown";
}

static tk_status check_given_inputs(tk_ctx *ctx, const tk_contract *contract, const tk_certify_options *options)
{
    if (options->input_count == 0)
        return TK_OK;
    if (!options->dims)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: `inputs` needs `shape`", contract->name);
    for (int i = 0; i < options->input_count; i++) {
        bool known = false;
        if (!options->inputs || !options->inputs[i].name || !options->inputs[i].bits)
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: inputs[%d] has no name or no bits", contract->name, i);
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
        return tki_fail(ctx, TK_BAD_ARGUMENT, "total_seconds is %g; it must be 0 or more", options->total_seconds);
    if ((unsigned)options->level > TK_EXHAUSTIVE)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "unknown level %d", (int)options->level);
    if (options->call_threads < 0 || options->call_threads > MOST_THREADS)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "call_threads is %d; it must be from 0 to %d", options->call_threads,
                        MOST_THREADS);
    if (options->planted_count && !options->dims)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: `planted` needs `shape`", contract->name);
    if (options->planted_count < 0 || options->planted_count > TK_MAX_PLANTED)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "planted_count is %d; it must be from 0 to %d", options->planted_count,
                        TK_MAX_PLANTED);
    if (options->alignment < 0 || options->alignment > TKI_MOST_ALIGNMENT ||
        options->alignment & (options->alignment - 1))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "alignment is %d bytes; it must be a power of two up to %d",
                        options->alignment, TKI_MOST_ALIGNMENT);
    if ((unsigned)options->sanitize > TK_SANITIZE_NEVER)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "unknown `sanitize` %d", (int)options->sanitize);
    if (options->kernel && ((options->kernel_name && !is_utf8(options->kernel_name)) ||
                            (options->kernel_program && !is_utf8(options->kernel_program)) ||
                            (options->kernel_device && !is_utf8(options->kernel_device))))
        return tki_fail(ctx, TK_BAD_ARGUMENT,
                        "the name of the function, of its program or of its device is not UTF-8");
    if (options->family && tki_family_find(options->family) < 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "unknown input family '%s'", options->family);
    if (options->mutant && !tki_mutant_find(contract, options->mutant))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s has no mutant '%s'", contract->name, options->mutant);
    if (options->variant && !tki_variant_find(contract, options->variant))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s has no variant '%s'", contract->name, options->variant);
    if (!!options->mutant + !!options->variant + !!options->kernel + !!options->lowering + !!options->kernel_file > 1)
        return tki_fail(ctx, TK_BAD_ARGUMENT,
                        "give one of: a lowering, a mutant, a variant, a function, a kernel file");
    int index = tki_index_param(contract);
    while (index >= 0 && (tki_index_values(&c, index) > 0 || tk_case_elements(&c, index) == 0))
        index = tki_next_index_param(contract, index);
    if (options->dims && index >= 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s has elements, but %s is 0: no index is valid", contract->name,
                        contract->params[index].name, contract->dim_names[contract->params[index].indexed_dim]);
    if (!options->dims)
        (void)tki_case_settle(&c);
    tk_status status = tki_case_check_shape(ctx, &c);
    return status == TK_OK ? check_given_inputs(ctx, contract, options) : status;
}

/* A context that works on another device works on the right one for as long as this takes. */
static tk_status open_device(tk_ctx *ctx, const tk_certify_options *options, bool *opened)
{
    const tki_backend *backend = tki_subject_backend(options);
    *opened = false;
    if (options->kernel || options->kernel_file || options->mutant || options->variant || !backend ||
        !backend->is_gpu || backend == tki_ctx_backend(ctx))
        return TK_OK;
    if (ctx->gpu)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the context's device is %s, not %s", tki_ctx_backend(ctx)->name,
                        backend->name);
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
                             const tk_certify_options *options, const uint64_t *mutants_seed, tki_trials *trials,
                             int64_t *held, tk_certificate **certificate)
{
    double begin = tki_now();
    tki_outcome o = {.contract = contract,
                     .dtype = dtype,
                     .result_dtype = tki_result_dtype(dtype, options),
                     .index_dtype = index_dtype,
                     .options = options,
                     .kind = tki_subject_kind_of(options),
                     .level = options->level,
                     .verdict = TK_HELD,
                     .failed_clause = -1,
                     .mutants_seed = mutants_seed,
                     .determinism = TK_CROSS_DEVICE};
    const tk_case c = tki_outcome_case(&o);
    if (o.level == TK_EXHAUSTIVE && (!tk_case_is_finite(&c) || options->dims || options->family))
        o.level = TK_FULL;
    /* Of one shape every level makes the same trials; of a kernel file calls beside them, too. */
    if (options->dims && !options->kernel_file)
        o.level = TK_QUICK;
    tki_runner runner = {0};
    tki_subject subject = {.ctx = ctx, .contract = contract, .caller = &runner.caller, .hash = tki_outputs_hash};
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
        status = tki_campaign_run(&subject, &o, trials);
    omp_set_num_threads(teams);
    tki_outcome_report(&o, 1, "done");
    o.seconds = tki_now() - begin;
    ctx->deadline = kept;
    if (held)
        *held = o.held;
    if (status == TK_OK)
        status = tki_certificate_make(ctx, &o, certificate);
    if (opened)
        close_device(ctx);
    json_decref(o.failing_case);
    free(o.trials);
    free(o.mutants.list);
    free(o.planted.kept);
    tki_exploration_free(&o.exploration);
    return status;
}

/* An op that was made from a definition has plain loops, where nothing else is named. */
static bool is_of_plain_loops(const tk_contract *contract, const tk_certify_options *options)
{
    tk_lowering_info info;
    return tk_contract_definition(contract) && !options->kernel_file && !options->kernel && !options->mutant &&
           !options->variant && !options->lowering && !tk_lowering_at(contract, 0, &info);
}

tk_status tk_certify(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                     const tk_certify_options *options, tk_certificate **certificate)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!contract || !certificate)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no contract, or no pointer for the certificate");
    if (!tki_contract_is_known(ctx, contract))
        return tki_fail(
            ctx, TK_BAD_ARGUMENT,
            "unknown contract; pass the address that tk_contract_find() or tk_contract_register() gave, not a copy");
    *certificate = NULL;
    tki_trials trials = {0};
    tk_certify_options taken = TK_CERTIFY_DEFAULTS;
    tk_status status = tki_options_take(ctx, "tk_certify_options", options, &taken, sizeof taken);
    /* Trials are drawn by it too, and a certificate does not name it where there is no index. */
    if (index_dtype == TK_I64 && !tk_contract_takes_index(contract))
        index_dtype = TK_I32;
    tk_kernel_file *plain = NULL;
    if (status == TK_OK && is_of_plain_loops(contract, &taken)) {
        const tk_kernel_file_options options_of_plain = {.size = sizeof options_of_plain, .backend = taken.backend};
        status = tk_kernel_file_plain(ctx, contract, &options_of_plain, &plain);
        taken.kernel_file = plain;
    }
    if (status == TK_OK)
        status = tki_certify_trials_make(ctx, contract, dtype, index_dtype, &taken, &trials);
    if (status == TK_OK)
        status = tki_certify_trials(ctx, contract, dtype, index_dtype, &taken, NULL, &trials, NULL, certificate);
    tk_kernel_file_close(plain);
    free(trials.list);
    return status;
}
