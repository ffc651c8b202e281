/* tk_judge: outputs that were computed elsewhere. Ours hold, one changed bit is found and named, and the certificate says
 * that no kernel ran. */
#include <stdlib.h>
#include <string.h>

#include "certify/proofs.h"
#include "core/hash.h"
#include "judge/trial.h"
#include "judge/trial_inputs.h"
#include "model/attributes.h"
#include "tests/certificate_test.h"
#include "trials/levels.h"
#include "trials/op_registry.h"

enum { SEED = 20261118 };

/* A case of an op with its tensors: inputs drawn from a family, outputs by our own kernel, or by a variant where no lowering takes the types. */
typedef struct computed {
    tki_trial trial;
    tki_inputs inputs;
    void *outputs[TK_MAX_PARAMS]; /* in contract order */
    const void *in[TK_MAX_PARAMS];
    const void *out[TK_MAX_PARAMS];
} computed;

static computed compute(tk_ctx *ctx, const tk_case *c, int family)
{
    computed t = {.trial = {.c = *c, .family = family, .seed = SEED}};
    void *buffers[TK_MAX_PARAMS] = {0};
    int in = 0, out = 0;
    const tki_variant *variant = tki_variants_of(c->contract);
    assert_ok(ctx, tki_inputs_alloc(ctx, c, &t.inputs));
    tki_trial_fill(&t.trial, t.inputs.data);
    for (int p = 0; p < c->contract->param_count; p++) {
        buffers[p] = t.inputs.data[p];
        if (c->contract->params[p].output) {
            buffers[p] = t.outputs[p] = tk_case_elements(c, p) ? malloc(tki_param_bytes(c, p)) : NULL;
            t.out[out++] = buffers[p];
        } else {
            t.in[in++] = buffers[p];
        }
    }
    if (some_lowering_takes(ctx, c->contract, (tk_types){c->dtype, c->result_dtype}))
        assert_ok(ctx, tk_run(ctx, c, buffers));
    else
        assert_int_equal(variant->kernel(c, buffers, &(tki_mutant_run){.how = variant->how}), 0);
    return t;
}

static void release(computed *t)
{
    tki_inputs_free(&t->inputs);
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        free(t->outputs[p]);
}

static tk_certificate *judge(tk_ctx *ctx, const tk_case *c, const computed *t)
{
    tk_certificate *certificate = NULL;
    assert_ok(ctx, tk_judge(ctx, c, t->in, t->out, &certificate));
    /* What it says is what it is, and it can be read again. */
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    const char *text = tk_certificate_json(certificate);
    tk_certificate *again = NULL;
    assert_ok(ctx, tk_certificate_parse(ctx, text, strlen(text), &again));
    assert_ok(ctx, tk_certificate_agrees(ctx, again));
    tk_certificate_destroy(again);
    assert_non_null(tk_certificate_markdown(certificate));
    return certificate;
}

static tk_case case_of(const char *op, tk_types types, const int64_t *dims)
{
    tk_case c = tk_case_init(tk_contract_find(op), types.dtype);
    c.result_dtype = types.result_dtype;
    c.index_dtype = TK_I32;
    memcpy(c.dims, dims, (size_t)c.contract->dim_count * sizeof *dims);
    return c;
}

static tk_case small_gelu(void)
{
    return case_of("gelu_fwd", (tk_types){TK_F16, TK_F16}, (int64_t[]){5});
}

/* -- What holds, and what does not ---------------------------------------------------------------------------- */

/* Flips a high bit of an output's last element, which has to be found, and by its place. */
static void assert_flip_is_found(tk_ctx *ctx, const tk_case *c, computed *t, int p)
{
    const int64_t count = tk_case_elements(c, p);
    const size_t size = tk_dtype_size(tk_case_param_dtype(c, p));
    const int64_t place = count - 1;
    unsigned char *bytes = (unsigned char *)t->outputs[p] + (size_t)place * size;
    char name[64];
    bytes[size - 1] ^= 0x40; /* the largest bit of the exponent, or nearly of an integer */
    tk_certificate *certificate = judge(ctx, c, t);
    bytes[size - 1] ^= 0x40;
    snprintf(name, sizeof name, "%s[%lld]", c->contract->params[p].name, (long long)place);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    if (!strstr(tk_certificate_reason(certificate), name))
        fail_msg("%s: '%s' does not name %s", c->contract->name, tk_certificate_reason(certificate), name);
    assert_string_equal(tk_certificate_reproduce(certificate), "");
    tk_refutation refutation;
    assert_true(tk_certificate_refutation(certificate, &refutation));
    assert_int_equal(refutation.elements, 1);
    tk_certificate_destroy(certificate);
}

TEST_WITH_CONTEXT(test_every_op_in_every_type)
{
    for (int i = 0; i < tk_contract_count(); i++) {
        const tk_contract *contract = tk_contract_at(i);
        for (int k = 0; k < contract->type_count; k++) {
            int64_t dims[TK_MAX_DIMS];
            for (int d = 0; d < contract->dim_count; d++)
                dims[d] = 3 + d;
            tk_case c = case_of(contract->name, contract->types[k], dims);
            computed t = compute(ctx, &c, 0);
            tk_certificate *certificate = judge(ctx, &c, &t);
            int64_t elements = 0;
            for (int p = 0; p < contract->param_count; p++)
                elements += contract->params[p].output ? tk_case_elements(&c, p) : 0;
            if (tk_certificate_verdict(certificate) != TK_HELD)
                fail_msg("%s: %s", tk_certificate_subject(certificate), tk_certificate_headline(certificate));
            assert_int_equal(tk_certificate_elements(certificate), elements);
            tk_certificate_destroy(certificate);
            for (int p = 0; p < contract->param_count; p++)
                if (contract->params[p].output && tk_case_elements(&c, p))
                    assert_flip_is_found(ctx, &c, &t, p);
            release(&t);
        }
    }
}

/* Sums that only a matrix unit may round so: refuted by ieee, with a remark, and held by the other numerics. */
TEST_WITH_CONTEXT(test_numerics)
{
    tk_case c = case_of("gemm", (tk_types){TK_F16, TK_F32}, (int64_t[]){1, 1, 2});
    const uint16_t a[2] = {0x3c00, 0x3c00}, b[2] = {0x3c00, 0x0401}; /* 1 + (2^-14 + 2^-24), a tie of fp32 */
    float sum = 1.0f + 0x1p-14f; /* one of the two nearest; an ulp below it is for matrix units alone */
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    bits -= 1;
    const void *in[] = {a, b}, *out[] = {&bits};
    tk_certificate *certificate = NULL;
    assert_ok(ctx, tk_judge(ctx, &c, in, out, &certificate));
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    assert_non_null(strstr(tk_certificate_reason(certificate), "within the bound of numerics tensor_core"));
    tk_certificate_destroy(certificate);
    const int numerics = tk_attribute_find(c.contract, "numerics");
    c.attributes[numerics].integer = tk_choice_find(&c.contract->attributes[numerics], "tensor_core");
    assert_ok(ctx, tk_judge(ctx, &c, in, out, &certificate));
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_non_null(strstr(tk_certificate_headline(certificate), "under tensor_core numerics"));
    tk_certificate_destroy(certificate);
}

/* A tensor that the case does not have is neither asked for nor judged. */
TEST_WITH_CONTEXT(test_absent_tensors)
{
    tk_case c = case_of("linear_fwd", (tk_types){TK_BF16, TK_BF16}, (int64_t[]){3, 4, 5});
    const tk_attribute *epilogue = &c.contract->attributes[tk_attribute_find(c.contract, "epilogue")];
    for (int i = 0; i < epilogue->choice_count; i++) {
        c.attributes[tk_attribute_find(c.contract, "epilogue")].integer = i;
        computed t = compute(ctx, &c, 0);
        tk_certificate *certificate = judge(ctx, &c, &t);
        assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
        json_t *statement = statement_of(certificate);
        json_t *given = json_object_get(json_object_get(predicate_of(statement), "run"), "given");
        for (int p = 0; p < c.contract->param_count; p++) {
            const tk_param *param = &c.contract->params[p];
            const json_t *side = json_object_get(given, param->output ? "outputs" : "inputs");
            assert_int_equal(json_object_get(side, param->name) != NULL, tk_case_has(&c, p));
        }
        json_decref(statement);
        tk_certificate_destroy(certificate);
        release(&t);
    }
}

/* -- What the certificate says -------------------------------------------------------------------------------- */

TEST_WITH_CONTEXT(test_says_that_no_kernel_ran)
{
    tk_case c = small_gelu();
    computed t = compute(ctx, &c, 0);
    tk_certificate *certificate = judge(ctx, &c, &t);
    assert_string_equal(tk_certificate_headline(certificate), "HELD for one case: n=5, inputs and outputs given");
    assert_string_equal(tk_certificate_subject(certificate), "given.gelu_fwd.f16");
    json_t *statement = statement_of(certificate), *predicate = predicate_of(statement);
    json_t *run = json_object_get(predicate, "run");
    assert_string_equal(json_string_value(json_object_get(run, "kind")), "given");
    assert_null(json_object_get(run, "seed"));
    /* The hash of an input is that of its bytes. */
    char hash[TKI_HASH_HEX];
    assert_true(tki_hash_bytes(t.in[0], 10, hash));
    json_t *x = json_object_get(json_object_get(json_object_get(run, "given"), "inputs"), "x");
    assert_string_equal(json_string_value(json_object_get(x, "sha256")), hash);
    assert_int_equal(json_integer_value(json_object_get(x, "elements")), 5);
    /* Clauses about writing, shapes and repetition were not judged. */
    const json_t *clauses = json_object_get(predicate, "clauses");
    for (size_t i = 0; i < json_array_size(clauses); i++) {
        const json_t *clause = json_array_get(clauses, i);
        if (c.contract->clauses[i].kind >= TK_CLAUSE_WRITE)
            assert_string_equal(json_string_value(json_object_get(clause, "verdict")), "NOT JUDGED");
    }
    char *evidence = json_dumps(json_object_get(predicate, "evidence"), JSON_ENCODE_ANY);
    char *non_claims = json_dumps(json_object_get(predicate, "non_claims"), JSON_ENCODE_ANY);
    assert_non_null(strstr(evidence, "were given"));
    assert_null(strstr(evidence, "ran at least twice"));
    assert_non_null(strstr(non_claims, "No kernel was run"));
    free(evidence);
    free(non_claims);
    json_decref(statement);
    bool same;
    assert_refused(ctx, tk_certificate_replay(ctx, certificate, NULL, &same, NULL, NULL), TK_UNAVAILABLE,
                   "of given outputs");
    tk_certificate_destroy(certificate);
    release(&t);
}

/* Edits that make it claim more than was shown: of a kernel, of other tensors, of clauses that need a run; and edits of what
 * follows from the other members, or is the same in every certificate of given outputs. */
static void forget_tensors(json_t *predicate)
{
    json_object_del(json_object_get(predicate, "run"), "given");
    json_object_set_new(predicate, "headline", json_string("HELD for one case: n=5"));
}

static void add_trial(json_t *predicate)
{
    json_t *trials = member(predicate, "run.trials");
    json_t *trial = json_deep_copy(json_array_get(trials, 0));
    json_object_set_new(trial, "elements", json_integer(0));
    json_array_append_new(trials, trial);
}

static void add_input(json_t *predicate)
{
    json_t *inputs = member(predicate, "run.given.inputs");
    json_object_set_new(inputs, "z", json_deep_copy(json_object_get(inputs, "x")));
}

/* With what the clause would then rest on. */
static void judge_writing(json_t *predicate)
{
    const int write = tki_clause_find(tk_contract_find("gelu_fwd"), TK_CLAUSE_WRITE);
    json_t *clause = json_array_get(json_object_get(predicate, "clauses"), (size_t)write);
    json_object_set_new(clause, "verdict", json_string("HELD"));
    json_object_set_new(clause, "checks", json_integer(2));
    json_object_set_new(
        predicate, "rests_on",
        tki_rests_on_json(json_object_get(predicate, "clauses"), json_object_get(predicate, "proofs"), true));
}

static void drop_non_claim(json_t *predicate)
{
    json_array_remove(member(predicate, "non_claims"), 1);
}

static void add_evidence(json_t *predicate)
{
    json_array_append_new(member(predicate, "evidence"), json_string("Each trial ran at least twice."));
}

static void forget_proofs(json_t *predicate)
{
    json_object_del(predicate, "proofs");
    json_object_del(predicate, "rests_on");
}

static void rest_on_trials(json_t *predicate)
{
    json_object_set_new(json_object_get(member(predicate, "rests_on"), "GELU_FWD.ERR"), "kernel",
                        json_string("trials"));
}

/* Of the text "other". */
#define OTHER_HASH "\"d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa\""

TEST_WITH_CONTEXT(test_claims_no_more_than_was_shown)
{
    static const struct {
        edit edit;
        const char *says;
    } edits[] = {
        {{.by = forget_tensors}, "whether outputs were given"},
        {{.at = "run.kind", .value = "\"lowering\""}, "its subject is given.gelu_fwd.f16"},
        {{.at = "run.kind", .value = "\"function\""}, "whether outputs were given"},
        {{.at = "run.level", .value = "\"full\""}, "whether outputs were given"},
        {{.at = "run.seed", .value = "1"}, "run.seed does not belong"},
        {{.at = "result.determinism", .value = "\"cross_device\""}, "claims determinism"},
        {{.at = "worker", .value = "{\"confinement\": []}"}, "worker does not belong"},
        {{.at = "mutants", .value = "[{\"name\": \"m\", \"rejected\": true, \"clause\": \"GELU-ERROR\"}]"},
         "it lists mutants"},
        {{.by = add_trial}, "not of one case"},
        {{.at = "run.given.outputs.y.elements", .value = "4"}, "have 4 elements"},
        {{.at = "run.given.inputs.x.elements", .value = "4"}, "the given x does not fit its case"},
        {{.by = add_input}, "that its case does not have"},
        {{.at = "run.trials.0.output_sha256", .value = OTHER_HASH}, "do not give its artifact's SHA-256"},
        {{.by = judge_writing}, "but no kernel was run"},
        {{.by = drop_non_claim}, "its `non_claims` does not follow"},
        {{.at = "non_claims.0", .value = "\"Nothing is left open.\""}, "found 'Nothing is left open.'"},
        {{.by = add_evidence}, "its `evidence` does not follow"},
        {{.at = "run.given.memory", .value = "\"device\""}, "its `evidence` does not follow"},
        {{.at = "run.given.memory", .value = "\"cloud\""}, "allowed is host|device"},
        {{.at = "run.subject", .value = "\"given.gelu_fwd.f16.by_cublas\""}, "its run gives given.gelu_fwd.f16"},
        {{.at = "run.given.inputs.x.sha256", .value = OTHER_HASH}, "do not give its artifact's SHA-256"},
        {{.at = "run.given.outputs.y.sha256", .value = OTHER_HASH}, "do not give its artifact's SHA-256"},
        {{.at = "built.source", .value = "\"ops/gelu/kernel_cpu.c\""},
         "built.source does not belong to a certificate of kind given"},
        {{.at = "approved_by", .value = "\"somebody\""}, "approved_by does not belong"},
        {{.at = "run.trials.0.seed", .value = "1"}, "run.trials.seed does not belong"},
        {{.at = "run.given.inputs.x.file", .value = "\"x.npy\""}, "run.given.inputs.x"},
        {{.at = "machine.driver", .value = "\"CUDA\""}, "machine.driver does not belong"},
        {{.at = "machine.backend", .value = "\"cuda\""}, "key does not follow"},
        {{.at = "built.artifact", .value = "\"flash.so\""}, "its artifact is flash.so"},
        {{.at = "result.kernel_seconds", .value = "0.5"}, "a kernel took 0.5 seconds"},
        {{.at = "coverage.reason", .value = "\"all lines ran\""}, "its coverage does not fit"},
        {{.at = "result.worst",
          .value = "{\"output\": \"y\", \"index\": 0, \"got\": 0.0, \"got_bits\": \"0x0000\", \"error_ulp\": 0.0, "
                   "\"clause\": "
                   "\"GELU_FWD.ERR\", \"trial\": {\"family\": \"given\", \"shape\": {\"n\": 500}}}"},
         "of another case"},
        {{.by = forget_proofs}, "no member `proofs`"},
        {{.by = rest_on_trials}, "what clause GELU_FWD.ERR rests on"},
    };
    tk_case c = small_gelu();
    computed t = compute(ctx, &c, 0);
    tk_certificate *certificate = judge(ctx, &c, &t);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(certificate);
        apply(edits[i].edit, predicate_of(statement));
        tk_certificate *edited = unread(statement);
        if (tk_certificate_agrees(ctx, edited) == TK_OK)
            fail_msg("edit %zu is taken, which should be refused: %s", i, edits[i].says);
        assert_refused(ctx, tk_certificate_agrees(ctx, edited), TK_BAD_FILE, edits[i].says);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
    release(&t);
}

/* Around the predicate there is no room for more either. */
TEST_WITH_CONTEXT(test_the_statement_follows_too)
{
    static const struct {
        const char *at, *value, *says;
    } edits[] = {{"subject.0.name", "\"flash_attention.so\"", "its statement names flash_attention.so"},
                 {"subject.0.uri", "\"https://example.org\"", "of its subject does not belong"},
                 {"approved_by", "\"somebody\"", "does not belong"}};
    tk_case c = small_gelu();
    computed t = compute(ctx, &c, 0);
    tk_certificate *certificate = judge(ctx, &c, &t);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(certificate);
        set_member(statement, edits[i].at, edits[i].value);
        tk_certificate *edited = unread(statement);
        assert_refused(ctx, tk_certificate_agrees(ctx, edited), TK_BAD_FILE, edits[i].says);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
    release(&t);
}

/* What another version wrote cannot be made again, and that is said. */
TEST_WITH_CONTEXT(test_another_version_is_told)
{
    tk_case c = small_gelu();
    computed t = compute(ctx, &c, 0);
    tk_certificate *certificate = judge(ctx, &c, &t);
    char *remarks = NULL;
    assert_ok(ctx, tk_certificate_remarks(ctx, certificate, &remarks));
    assert_null(remarks);
    json_t *statement = statement_of(certificate);
    json_object_set_new(predicate_of(statement), "tokitai", json_string("99.0.0"));
    tk_certificate *edited = unread(statement);
    assert_refused(ctx, tk_certificate_agrees(ctx, edited), TK_BAD_FILE, "cannot check what a later version writes");
    tk_certificate_destroy(edited);
    json_decref(statement);
    tk_certificate_destroy(certificate);
    release(&t);
}

/* Other inputs are a difference, even if they have the same outputs and the same errors. */
TEST_WITH_CONTEXT(test_other_inputs_are_told_apart)
{
    tk_case c = case_of("gelu_fwd", (tk_types){TK_F16, TK_F16}, (int64_t[]){1});
    const uint16_t zeros[] = {0x0000, 0x8000}, y = 0; /* either zero is right for both */
    tk_certificate *certificates[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const void *in[] = {&zeros[i]}, *out[] = {&y};
        assert_ok(ctx, tk_judge(ctx, &c, in, out, &certificates[i]));
    }
    char *text = NULL;
    assert_ok(ctx, tk_certificate_diff(ctx, certificates[0], certificates[1], &text));
    assert_non_null(strstr(text, "given tensors"));
    free(text);
    const tk_report_entry entry = {.certificate = certificates[0]};
    assert_ok(ctx, tk_report_html(ctx, &entry, 1, &text));
    assert_non_null(strstr(text, "given tensors"));
    free(text);
    tk_certificate_destroy(certificates[0]);
    tk_certificate_destroy(certificates[1]);
}

/* -- What is refused ------------------------------------------------------------------------------------------ */

TEST_WITH_CONTEXT(test_refusals)
{
    tk_case c = small_gelu();
    _Alignas(2) unsigned char x[12] = {0}, y[12] = {0};
    const void *in[] = {x}, *out[] = {y}, *nothing[] = {NULL}, *odd[] = {y + 1};
    tk_certificate *certificate = NULL;
    assert_int_equal(tk_judge(NULL, &c, in, out, &certificate), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_judge(ctx, NULL, in, out, &certificate), TK_BAD_ARGUMENT, "no case");
    assert_refused(ctx, tk_judge(ctx, &c, in, out, NULL), TK_BAD_ARGUMENT, "certificate");
    assert_refused(ctx, tk_judge(ctx, &c, nothing, out, &certificate), TK_BAD_ARGUMENT, "x is NULL");
    assert_refused(ctx, tk_judge(ctx, &c, NULL, out, &certificate), TK_BAD_ARGUMENT, "x is NULL");
    assert_refused(ctx, tk_judge(ctx, &c, in, nothing, &certificate), TK_BAD_ARGUMENT, "y is NULL");
    assert_refused(ctx, tk_judge(ctx, &c, in, odd, &certificate), TK_BAD_ARGUMENT, "y is not aligned");
    c.dims[0] = -1;
    assert_int_equal(tk_judge(ctx, &c, in, out, &certificate), TK_BAD_ARGUMENT);
    c = small_gelu();
    const tk_contract copy = *c.contract;
    c.contract = &copy;
    assert_refused(ctx, tk_judge(ctx, &c, in, out, &certificate), TK_BAD_ARGUMENT, "a copy");
    assert_null(certificate);
}

TEST_WITH_CONTEXT(test_bad_index)
{
    tk_case c = case_of("embedding_fwd", (tk_types){TK_F16, TK_F16}, (int64_t[]){3, 1, 2});
    const int32_t index[3] = {0, 1, 2};
    const uint16_t weight[2] = {0}, rows[3] = {0};
    const void *in[] = {index, weight}, *out[] = {rows};
    tk_certificate *certificate = NULL;
    assert_refused(ctx, tk_judge(ctx, &c, in, out, &certificate), TK_BAD_INDEX, "index[2] = 2 is outside [0, 2)");
    assert_null(certificate);
    c = case_of("grouped_gemm", (tk_types){TK_F16, TK_F16}, (int64_t[]){2, 1, 1, 1});
    const int32_t ends[1] = {3};
    const void *groups[] = {rows, weight, ends};
    assert_refused(ctx, tk_judge(ctx, &c, groups, out, &certificate), TK_BAD_INDEX,
                   "ends[0] = 3 is outside [0, 2], or less");
}

/* The contract says nothing of inputs outside of the domain: neither HELD nor REFUTED would be true of them. */
TEST_WITH_CONTEXT(test_outside_of_the_domain)
{
    tk_case c = case_of("gelu_fwd", (tk_types){TK_F32, TK_F32}, (int64_t[]){2});
    float x[2] = {1, 1e-30F}, y[2] = {0.841191991F, 5e-31F};
    const void *in[] = {x}, *out[] = {y};
    tk_certificate *certificate = NULL;
    assert_ok(ctx, tk_judge(ctx, &c, in, out, &certificate));
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    tk_certificate_destroy(certificate);
    tki_set_role(c.contract, c.attributes, TK_ROLE_DOMAIN, TKI_DOMAIN_NORMAL);
    assert_refused(ctx, tk_judge(ctx, &c, in, out, &certificate), TK_BAD_ARGUMENT,
                   "x[1] = 0xda24260 = 1e-30 lies outside of domain normal");
    assert_null(certificate);
    x[1] = y[1] = 0;
    assert_ok(ctx, tk_judge(ctx, &c, in, out, &certificate));
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    tk_certificate_destroy(certificate);
}

/* Nothing to judge is no success. */
TEST_WITH_CONTEXT(test_empty)
{
    tk_case c = case_of("gelu_fwd", (tk_types){TK_F16, TK_F16}, (int64_t[]){0});
    tk_certificate *certificate = NULL;
    assert_ok(ctx, tk_judge(ctx, &c, NULL, NULL, &certificate));
    assert_int_equal(tk_certificate_verdict(certificate), TK_UNKNOWN);
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    tk_certificate_destroy(certificate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_op_in_every_type),
        cmocka_unit_test(test_numerics),
        cmocka_unit_test(test_absent_tensors),
        cmocka_unit_test(test_says_that_no_kernel_ran),
        cmocka_unit_test(test_claims_no_more_than_was_shown),
        cmocka_unit_test(test_the_statement_follows_too),
        cmocka_unit_test(test_another_version_is_told),
        cmocka_unit_test(test_other_inputs_are_told_apart),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_index),
        cmocka_unit_test(test_outside_of_the_domain),
        cmocka_unit_test(test_empty),
    };
    printf("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
