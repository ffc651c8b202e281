/* Theorems and certificates: the list is whole, certificates cite it, and what a certificate says that it rests on cannot be more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/proofs.h"
#include "core/hash.h"
#include "tests/certificate_test.h"
#include "tests/op_test.h"

/* The clause that most theorems are about. */
static const char gemm_error[] = "GEMM.ERR";

static tk_certificate *gemm_certificate(tk_ctx *ctx)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.dims = (int64_t[]){3, 2, 4};
    options.family = "normal";
    return certify_one(ctx, tk_contract_find("gemm"), TK_F16, TK_I32, options);
}

static bool is_clause_or_topic(const char *id)
{
    const tk_contract *contract;
    const char *topic, *what;
    for (int i = 0; (topic = tk_proof_topic_at(i, &what)); i++)
        if (!strcmp(topic, id))
            return true;
    for (int op = 0; (contract = tk_contract_at(op)); op++)
        for (int i = 0; i < contract->clause_count; i++)
            if (!strcmp(contract->clauses[i].id, id))
                return true;
    return false;
}

/* -- The list ---------------------------------------------------------------------------------------------------- */

TEST(each_theorem_supports_something)
{
    tk_theorem theorem;
    int count = 0;
    for (; tk_theorem_at(count, &theorem); count++) {
        char ids[2048];
        assert_true(snprintf(ids, sizeof ids, "%s", theorem.supports) < (int)sizeof ids);
        char *rest = NULL;
        for (char *id = strtok_r(ids, " ", &rest); id; id = strtok_r(NULL, " ", &rest)) {
            if (!is_clause_or_topic(id))
                fail_msg("%s %s supports %s, which nothing has", theorem.file, theorem.name, id);
            assert_true(tk_theorem_supports(&theorem, id));
        }
        assert_false(tk_theorem_supports(&theorem, ""));
        assert_true(theorem.says[0]);
        char begin[256];
        snprintf(begin, sizeof begin, "Theorem %s", theorem.name);
        assert_int_equal(strncmp(theorem.statement, begin, strlen(begin)), 0);
        assert_int_equal(theorem.statement[strlen(theorem.statement) - 1], '.');
        assert_int_equal(strlen(theorem.sha256), 64);
        assert_non_null(tki_theorem_find(theorem.file, theorem.name));
    }
    assert_true(count > 20);
    assert_false(tk_theorem_at(-1, &theorem));
    assert_false(tk_theorem_at(count, &theorem));
    assert_non_null(tk_axiom_at(0));
    for (int i = 0; tk_axiom_at(i); i++)
        assert_int_equal(strncmp(tk_axiom_at(i), "Coq.", 4), 0);
}

TEST(an_id_is_a_whole_word)
{
    const tki_theorem theorem = {.supports = "XGEMM.ERR GEMM.ERRX GEMM_GRAD_A.ERR"};
    assert_false(tki_theorem_supports(&theorem, "GEMM.ERR"));
    assert_false(tki_theorem_supports(&theorem, "GEMM"));
    assert_true(tki_theorem_supports(&theorem, "XGEMM.ERR"));
    assert_true(tki_theorem_supports(&theorem, "GEMM.ERRX"));
    assert_true(tki_theorem_supports(&theorem, "GEMM_GRAD_A.ERR"));
}

/* What a file imports is in its hash: formats.v and constants.v are in that of sums.v. */
TEST(a_hash_is_of_all_that_is_imported)
{
    for (const tki_theorem *t = tki_theorems; t->name; t++) {
        const int *parts = tki_proof_files[t->file].parts;
        char *text = NULL, hash[TKI_HASH_HEX], expected[TKI_HASH_HEX];
        size_t bytes;
        assert_int_equal(parts[0], t->file);
        FILE *all = open_memstream(&text, &bytes);
        for (int i = 0; parts[i] >= 0; i++) {
            const tki_proof_file *file = &tki_proof_files[parts[i]];
            assert_int_equal(strlen(file->text), file->bytes);
            fwrite(file->text, 1, file->bytes, all);
            for (int k = 0; k < i; k++)
                assert_int_not_equal(parts[k], parts[i]);
        }
        fclose(all);
        assert_true(tki_hash_bytes(text, bytes, expected) && tki_theorem_hash(t, hash));
        assert_string_equal(hash, expected);
        free(text);
    }
    const tki_theorem *sum = tki_theorem_find("proofs/sums.v", "any_order");
    assert_non_null(sum);
    bool has_formats = false;
    for (const int *part = tki_proof_files[sum->file].parts; *part >= 0; part++)
        has_formats |= !strcmp(tki_proof_files[*part].path, "proofs/formats.v");
    assert_true(has_formats);
}

/* -- What a certificate says ------------------------------------------------------------------------------------- */

TEST_WITH_CONTEXT(a_certificate_cites_what_supports_its_clauses)
{
    tk_certificate *certificate = gemm_certificate(ctx);
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    tk_citation citation;
    tk_theorem theorem;
    tk_basis basis;
    int cited = 0, expected = 0;
    for (; tk_certificate_cites(certificate, cited, &citation); cited++)
        assert_string_equal(citation.state, "same");
    for (int i = 0; tk_theorem_at(i, &theorem); i++) {
        bool supports = tk_theorem_supports(&theorem, "ACCEPTANCE");
        for (int k = 0; k < tk_contract_find("gemm")->clause_count; k++)
            supports |= tk_theorem_supports(&theorem, tk_contract_find("gemm")->clauses[k].id);
        expected += supports;
    }
    assert_int_equal(cited, expected);
    assert_true(cited > 3);
    for (int i = 0; tk_certificate_rests_on(certificate, i, &basis); i++) {
        if (!strcmp(basis.clause, gemm_error)) {
            assert_string_equal(basis.kernel, "trials");
            assert_true(basis.theorems > 0);
        }
        if (!strcmp(basis.clause, "GEMM.WRITE"))
            assert_int_equal(basis.theorems, 0);
        if (!strcmp(basis.verdict, "NOT JUDGED"))
            assert_string_equal(basis.kernel, "nothing");
    }
    assert_false(tk_certificate_rests_on(certificate, -1, &basis));
    assert_false(tk_certificate_cites(certificate, -1, &citation));
    assert_non_null(strstr(tk_certificate_markdown(certificate), "Basis of the clauses"));
    tk_certificate_destroy(certificate);
}

/* A copy by bits has no derivation. */
TEST_WITH_CONTEXT(a_clause_without_a_theorem_says_so)
{
    tk_certificate *certificate = small_certificate(ctx);
    tk_citation citation;
    tk_basis basis;
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    assert_false(tk_certificate_cites(certificate, 0, &citation));
    for (int i = 0; tk_certificate_rests_on(certificate, i, &basis); i++)
        assert_int_equal(basis.theorems, 0);
    tk_certificate_destroy(certificate);
}

TEST_WITH_CONTEXT(only_a_whole_domain_is_exhaustion)
{
    for (int level = TK_QUICK; level <= TK_EXHAUSTIVE; level += TK_EXHAUSTIVE) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.skip_mutants = true;
        options.level = (tk_level)level;
        tk_certificate *certificate = certify_one(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, options);
        tk_basis basis;
        assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
        for (int i = 0; tk_certificate_rests_on(certificate, i, &basis); i++) {
            const bool values = !strcmp(basis.clause, "GELU_FWD.ERR") || !strcmp(basis.clause, "GELU_FWD.NAN") ||
                                !strcmp(basis.clause, "GELU_FWD.INF");
            assert_string_equal(basis.kernel, values && level == TK_EXHAUSTIVE ? "exhaustion" : "trials");
        }
        tk_certificate_destroy(certificate);
    }
}

TEST_WITH_CONTEXT(what_is_refuted_rests_on_its_counterexample)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.mutant = "tanh_form";
    tk_certificate *certificate = certify_one(ctx, tk_contract_find("gelu_bwd"), TK_F16, TK_I32, options);
    tk_basis basis;
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    assert_true(tk_certificate_rests_on(certificate, 0, &basis));
    assert_string_equal(basis.clause, "GELU_BWD.ERR");
    assert_string_equal(basis.kernel, "counterexample");
    tk_certificate_destroy(certificate);
}

/* -- Certificates that were edited with care --------------------------------------------------------------------- */

static json_t *proof_for(json_t *statement, const char *id)
{
    json_t *proofs = json_object_get(predicate_of(statement), "proofs");
    for (size_t i = 0; i < json_array_size(proofs); i++) {
        json_t *one = json_array();
        json_array_append(one, json_array_get(proofs, i));
        const int count = tki_proofs_count(one, id);
        json_decref(one);
        if (count)
            return json_array_get(proofs, i);
    }
    fail_msg("no proof for %s", id);
    return NULL;
}

static json_t *basis_of(json_t *statement, const char *id)
{
    return json_object_get(json_object_get(predicate_of(statement), "rests_on"), id);
}

static void give_another_hash(json_t *statement)
{
    json_object_set_new(proof_for(statement, gemm_error), "sha256",
                        json_string("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
}

static void give_another_name(json_t *statement)
{
    json_object_set_new(proof_for(statement, gemm_error), "theorem", json_string("nobody_has_proved_this"));
}

static void drop_both_members(json_t *statement)
{
    json_object_del(predicate_of(statement), "proofs");
    json_object_del(predicate_of(statement), "rests_on");
}

static void drop_proofs(json_t *statement)
{
    json_object_del(predicate_of(statement), "proofs");
}

static void drop_basis(json_t *statement)
{
    json_object_del(predicate_of(statement), "rests_on");
}

static void claim_exhaustion(json_t *statement)
{
    json_object_set_new(basis_of(statement, gemm_error), "kernel", json_string("exhaustion"));
}

static void claim_a_theorem(json_t *statement)
{
    json_object_set_new(basis_of(statement, "GEMM.WRITE"), "derivation", json_string("theorem"));
}

/* What the theorem of this version is known not to support; `rests_on` is put right. */
static void claim_that_a_theorem_supports_more(json_t *statement)
{
    claim_a_theorem(statement);
    json_array_append_new(json_object_get(proof_for(statement, gemm_error), "supports"), json_string("GEMM.WRITE"));
}

static void cite_for_another_op(json_t *statement)
{
    json_array_append_new(json_object_get(proof_for(statement, gemm_error), "supports"),
                          json_string("LINEAR_FWD.ERR"));
}

static void cite_twice(json_t *statement)
{
    json_array_append(json_object_get(predicate_of(statement), "proofs"), proof_for(statement, gemm_error));
}

static void cite_without_hash(json_t *statement)
{
    json_object_del(proof_for(statement, gemm_error), "sha256");
}

static void cite_too_much(json_t *statement)
{
    json_t *proofs = json_object_get(predicate_of(statement), "proofs");
    for (int i = 0; i <= TKI_MOST_PROOFS; i++)
        json_array_append(proofs, json_array_get(proofs, 0));
}

static void rest_on_a_word(json_t *statement)
{
    json_object_set_new(predicate_of(statement), "rests_on", json_string("theorem"));
}

static void have_a_further_basis(json_t *statement)
{
    json_object_set_new(json_object_get(predicate_of(statement), "rests_on"), "GEMM.SPEED",
                        json_pack("{s:s}", "kernel", "trials"));
}

TEST_WITH_CONTEXT(edits_are_refused_or_remarked)
{
    static const struct {
        void (*edit)(json_t *statement);
        const char *refused; /* what it contradicts; NULL: it is taken */
        const char *remark;  /* NULL: none */
    } edits[] = {
        {give_another_hash, NULL, "cites 1 theorem that this version changed or does not have: proofs/"},
        {give_another_name, NULL, "nobody_has_proved_this"},
        {drop_both_members, "is missing from a certificate", NULL},
        {drop_proofs, "is missing", NULL},
        {drop_basis, "is missing", NULL},
        {rest_on_a_word, "is missing", NULL},
        {claim_exhaustion, "what clause GEMM.ERR rests on", NULL},
        {claim_a_theorem, "what clause GEMM.WRITE rests on", NULL},
        {claim_that_a_theorem_supports_more, "for GEMM.WRITE, which that theorem does not support", NULL},
        {cite_for_another_op, "for LINEAR_FWD.ERR, which it does not have", NULL},
        {cite_twice, "twice", NULL},
        {cite_without_hash, "lacks its file, theorem, hash", NULL},
        {cite_too_much, "it has too many proofs", NULL},
        {have_a_further_basis, "names a clause that it does not have", NULL},
    };
    tk_certificate *original = gemm_certificate(ctx);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(original);
        edits[i].edit(statement);
        tk_certificate *edited = unread(statement);
        char *remarks = NULL;
        const tk_status status = tk_certificate_agrees(ctx, edited);
        assert_int_equal(status, edits[i].refused ? TK_BAD_FILE : TK_OK);
        if (edits[i].refused && !strstr(tk_ctx_message(ctx), edits[i].refused))
            fail_msg("edit %zu: '%s', not '%s'", i, tk_ctx_message(ctx), edits[i].refused);
        assert_ok(ctx, tk_certificate_remarks(ctx, edited, &remarks));
        if (!edits[i].refused && (!remarks != !edits[i].remark || (remarks && !strstr(remarks, edits[i].remark))))
            fail_msg("edit %zu: remarks '%s', not '%s'", i, remarks ? remarks : "", edits[i].remark);
        assert_non_null(tk_certificate_markdown(edited));
        free(remarks);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(original);
}

TEST_WITH_CONTEXT(a_stale_citation_has_a_state)
{
    static void (*const edits[])(json_t *) = {give_another_hash, give_another_name};
    static const char *const states[] = {"changed", "unknown"};
    tk_certificate *original = gemm_certificate(ctx);
    for (int i = 0; i < 2; i++) {
        json_t *statement = statement_of(original);
        edits[i](statement);
        tk_certificate *edited = unread(statement);
        tk_citation citation;
        int stale = 0;
        for (int k = 0; tk_certificate_cites(edited, k, &citation); k++) {
            if (!strcmp(citation.state, "same"))
                continue;
            assert_string_equal(citation.state, states[i]);
            stale++;
        }
        assert_int_equal(stale, 1);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(original);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_theorem_supports_something),
        cmocka_unit_test(an_id_is_a_whole_word),
        cmocka_unit_test(a_hash_is_of_all_that_is_imported),
        cmocka_unit_test(a_certificate_cites_what_supports_its_clauses),
        cmocka_unit_test(a_clause_without_a_theorem_says_so),
        cmocka_unit_test(only_a_whole_domain_is_exhaustion),
        cmocka_unit_test(what_is_refuted_rests_on_its_counterexample),
        cmocka_unit_test(edits_are_refused_or_remarked),
        cmocka_unit_test(a_stale_citation_has_a_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
