/* RECORDS. tk_judge: outputs that were computed elsewhere, judged element by element. No kernel runs, so that what a
 * contract says of writing, shapes and repetition is not judged. */
#include "certify/given_outputs.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/subject.h"
#include "core/clock.h"
#include "core/context.h"
#include "judge/guarded_run.h"
#include "judge/judge_case.h"
#include "judge/trial_inputs.h"
#include "model/attributes.h"
#include "model/case.h"
#include "model/op.h"
#include "trials/attribute_settings.h"
#include "trials/op_registry.h"

/* -- The kind of subject ------------------------------------------------------------------------------------- */

static tk_status choose(tk_ctx *ctx, tki_outcome *o)
{
    (void)ctx;
    char types[TKI_TYPES_TEXT];
    tki_outcome_types(o, types);
    snprintf(o->subject, sizeof o->subject, "given.%s.%s", o->contract->name, types);
    o->backend = tki_backend_find("cpu", ""); /* that of the judge */
    return TK_OK;
}

static tk_status open_subject(tki_subject *subject, tki_outcome *o)
{
    (void)o;
    return tki_fail(subject->ctx, TK_INTERNAL, "given outputs cannot be called");
}

/* The tensors of one side, by name: {"x": {"elements": 4, "sha256": "..."}}. */
static json_t *tensors_json(const tki_given *given, bool outputs)
{
    const tk_contract *contract = given->c.contract;
    json_t *tensors = json_object();
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].output == outputs && tk_case_has(&given->c, p))
            json_object_set_new(tensors, contract->params[p].name,
                                json_pack("{s:I, s:s}", "elements", (json_int_t)tk_case_elements(&given->c, p),
                                          "sha256", given->hash[p]));
    return tensors;
}

static void describe(const tki_outcome *o, json_t *run)
{
    json_object_set_new(run, "given",
                        json_pack("{s:s, s:o, s:o}", "memory", o->given->on_device ? "device" : "host", "inputs",
                                  tensors_json(o->given, false), "outputs", tensors_json(o->given, true)));
}

/* There is nothing to run. */
static void reproduce(const json_t *predicate, FILE *out)
{
    (void)predicate;
    (void)out;
}

static void add_line(tki_hash *hash, const char *hex, const char *name)
{
    tki_hash_add(hash, hex, strlen(hex));
    tki_hash_add(hash, "  ", 2);
    tki_hash_add(hash, name, strlen(name));
    tki_hash_add(hash, "\n", 1);
}

bool tki_given_hash(const tki_given *given, char hex[TKI_HASH_HEX])
{
    tki_hash hash;
    tki_hash_begin(&hash);
    for (int p = 0; p < given->c.contract->param_count; p++)
        if (tk_case_has(&given->c, p))
            add_line(&hash, given->hash[p], given->c.contract->params[p].name);
    add_line(&hash, given->output_hash, "outputs");
    return tki_hash_finish(&hash, hex);
}

/* What made the outputs is not known; the tensors are what the certificate is about. */
static tk_status trace(tk_ctx *ctx, const tki_outcome *o, tki_provenance *provenance)
{
    *provenance = (tki_provenance){0};
    if (!tk_device_at(0, &provenance->device))
        return tki_fail(ctx, TK_INTERNAL, "this machine's processor could not be described");
    snprintf(provenance->artifact_path, sizeof provenance->artifact_path, "%s.tensors", o->contract->name);
    return tki_given_hash(o->given, provenance->artifact_hash) ? TK_OK : tki_fail(ctx, TK_INTERNAL, "SHA-256 failed");
}

const tki_subject_kind tki_subject_given = {"given", .is_user_kernel = true, TKI_SUBJECT_FUNCTIONS};

/* -- The tensors --------------------------------------------------------------------------------------------- */

typedef struct tensors {
    const void
        *data[TK_MAX_PARAMS];    /* in host memory, in contract order; NULL for those that the case does not have */
    void *copies[TK_MAX_PARAMS]; /* of device memory */
} tensors;

static void free_tensors(tensors *t)
{
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        free(t->copies[p]);
}

static tk_status take_tensor(tk_ctx *ctx, const tk_case *c, int p, const void *data, tensors *t)
{
    const char *op = c->contract->name, *name = c->contract->params[p].name;
    const size_t bytes = tki_param_bytes(c, p);
    if (!bytes)
        return TK_OK;
    if (!data)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s is NULL", op, name);
    if ((uintptr_t)data % tk_dtype_size(tk_case_param_dtype(c, p)))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: %s is not aligned to its elements", op, name);
    t->data[p] = data;
    if (!ctx->gpu)
        return TK_OK;
    t->data[p] = t->copies[p] = malloc(bytes);
    if (!t->copies[p])
        return tki_fail(ctx, TK_NO_MEMORY, "%s: no memory for %s", op, name);
    return tk_memory_read(ctx, t->copies[p], data, bytes);
}

/* An op refuses bad indices, and the oracle would follow them. */
static tk_status check_indices(tk_ctx *ctx, const tk_case *c, const tensors *t)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        if (c->contract->params[p].output || c->contract->params[p].kind != TK_KIND_INDEX || !t->data[p])
            continue;
        const int64_t bad = tki_first_bad_index(c, p, t->data[p]);
        if (bad >= 0)
            return tki_fail_index(ctx, c->contract, p, bad, tki_index_at(tk_case_param_dtype(c, p), t->data[p], bad),
                                  c->dims[c->contract->params[p].indexed_dim]);
    }
    return TK_OK;
}

static tk_status take_tensors(tk_ctx *ctx, const tk_case *c, const void *const inputs[], const void *const outputs[],
                              tensors *t)
{
    tk_status status = TK_OK;
    int from[2] = {0, 0};
    for (int p = 0; p < c->contract->param_count && status == TK_OK; p++) {
        const bool output = c->contract->params[p].output;
        const void *const *side = output ? outputs : inputs;
        status = take_tensor(ctx, c, p, side ? side[from[output]] : NULL, t);
        from[output]++;
    }
    if (status == TK_OK)
        status = check_indices(ctx, c, t);
    return status == TK_OK ? tki_inputs_check_domain(ctx, c, t->data) : status;
}

static tk_status hash_tensors(tk_ctx *ctx, const tk_case *c, const tensors *t, tki_given *given)
{
    bool hashed = true;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : hashed)
    for (int p = 0; p < c->contract->param_count; p++)
        if (tk_case_has(c, p))
            hashed = tki_hash_bytes(t->data[p], tki_param_bytes(c, p), given->hash[p]) && hashed;
    if (!hashed || tki_outputs_hash(c, t->data, given->output_hash) != TK_OK)
        return tki_fail(ctx, TK_INTERNAL, "SHA-256 failed");
    return TK_OK;
}

/* -- The judgement ------------------------------------------------------------------------------------------- */

/* What our own lowerings promise binds nobody else: numerics any are those of IEEE arithmetic. */
static void settle_numerics(const tk_ctx *ctx, tk_case *c)
{
    if (!tki_settings_has_numerics(c->contract))
        return;
    if (tki_choice_of_role(c->contract, c->attributes, TK_ROLE_NUMERICS) == TKI_NUMERICS_ANY)
        tki_set_role(c->contract, c->attributes, TK_ROLE_NUMERICS, TKI_NUMERICS_IEEE);
    tki_set_role(c->contract, c->attributes, TK_ROLE_MATRIX_UNIT,
                 ctx->device ? tki_settings_unit_of(ctx->device->architecture) : TKI_UNIT_UNKNOWN);
}

/* Outputs of a matrix unit may be right by its numerics: the cause says so. */
static tk_status hint_at_numerics(tk_ctx *ctx, tki_outcome *o, const tki_oracle *oracle, const void *tables,
                                  const tensors *t)
{
    if (!tki_settings_has_numerics(o->contract) ||
        !tki_has_matrix_unit_bounds(tki_kind_dtype(&o->given->c, TK_KIND_VALUE)) ||
        tki_choice_of_role(o->contract, o->attributes, TK_ROLE_NUMERICS) != TKI_NUMERICS_IEEE ||
        o->failed_clause != tki_clause_find(o->contract, TK_CLAUSE_ERROR))
        return TK_OK;
    tk_case other = o->given->c;
    tki_judgement again = {0};
    tki_set_role(o->contract, other.attributes, TK_ROLE_NUMERICS, TKI_NUMERICS_TENSOR_CORE);
    tk_status status = tki_judge_case(ctx, oracle, tables, &other, t->data, (tki_judged_how){0}, &again);
    if (status == TK_OK && !again.failure.present)
        o->cause.fits = tki_settings_choice(o->contract, other.attributes, TK_ROLE_NUMERICS);
    return status;
}

static tk_status judge_tensors(tk_ctx *ctx, tki_outcome *o, const tensors *t)
{
    const tk_case *c = &o->given->c;
    const tki_oracle *oracle;
    void *tables;
    tk_status status = tki_oracle_open(ctx, o->contract, o->dtype, &oracle, &tables);
    if (status != TK_OK)
        return status;
    tki_trial trial = {.c = *c, .family = TKI_GIVEN_INPUTS};
    tki_trial_result result = {.failed_clause = -1, .determinism = TK_DETERMINISM_NONE};
    const double begin = tki_now();
    status = tki_judge_case(ctx, oracle, tables, c, t->data, (tki_judged_how){0}, &result.judgement);
    if (status != TK_OK)
        return status;
    result.judge_seconds = tki_now() - begin;
    memcpy(result.output_hash, o->given->output_hash, sizeof result.output_hash);
    tki_trial_fail_element(&result);
    tki_inputs inputs = {0};
    for (int p = 0; p < c->contract->param_count; p++)
        inputs.data[p] = c->contract->params[p].output ? NULL : (void *)(uintptr_t)t->data[p];
    tki_outcome_add(o, &trial, &inputs, &result);
    tki_outcome_count_failed(o, &result);
    tki_outcome_record(o, &trial, &result);
    o->tried = 1;
    o->complete = true;
    if (result.failed_clause >= 0) {
        tki_outcome_refute(o, &trial, &result);
        status = hint_at_numerics(ctx, o, oracle, tables, t);
    }
    tki_outcome_conclude(o, 1);
    return status;
}

static tk_status make_certificate(tk_ctx *ctx, tki_given *given, const tensors *t, tk_certificate **certificate)
{
    const tk_case *c = &given->c;
    const double begin = tki_now();
    tki_trial_record record;
    const tk_certify_options options = {.size = sizeof options, .dims = c->dims, .skip_mutants = true};
    tki_outcome o = {.contract = c->contract,
                     .dtype = c->dtype,
                     .result_dtype = c->result_dtype,
                     .index_dtype = c->index_dtype,
                     .options = &options,
                     .kind = &tki_subject_given,
                     .given = given,
                     .verdict = TK_HELD,
                     .failed_clause = -1,
                     .trials = &record};
    memcpy(o.attributes, c->attributes, sizeof o.attributes);
    tk_status status = o.kind->choose(ctx, &o);
    if (status == TK_OK)
        status = hash_tensors(ctx, c, t, given);
    if (status == TK_OK)
        status = judge_tensors(ctx, &o, t);
    o.seconds = tki_now() - begin;
    return status == TK_OK ? tki_certificate_make(ctx, &o, certificate) : status;
}

tk_status tk_judge(tk_ctx *ctx, const tk_case *c, const void *const inputs[], const void *const outputs[],
                   tk_certificate **certificate)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!c || !c->contract || !certificate)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no case, no contract, or no pointer for the certificate");
    *certificate = NULL;
    if (!tki_contract_is_known(ctx, c->contract))
        return tki_fail(
            ctx, TK_BAD_ARGUMENT,
            "unknown contract; pass the address that tk_contract_find() or tk_contract_register() gave, not a copy");
    tki_given given = {.c = *c, .on_device = ctx->gpu != NULL};
    tensors t = {0};
    settle_numerics(ctx, &given.c);
    tk_status status = tki_case_check_shape(ctx, &given.c);
    if (status == TK_OK)
        status = take_tensors(ctx, &given.c, inputs, outputs, &t);
    const int teams = omp_get_max_threads();
    omp_set_num_threads(tki_ctx_threads(ctx));
    if (status == TK_OK)
        status = make_certificate(ctx, &given, &t, certificate);
    omp_set_num_threads(teams);
    free_tensors(&t);
    return status;
}
