/* RECORDS. What contracts and certificates rest on: theorems by name and hash. */
#include "certify/proofs.h"

#include <stdio.h>
#include <string.h>

#include "certify/certificate.h"
#include "trials/op_registry.h"

/* The rule that decides every element that has a bound: exact/admit.h. */
static const char acceptance[] = "ACCEPTANCE";

bool tki_theorem_supports(const tki_theorem *theorem, const char *id)
{
    const size_t length = strlen(id);
    for (const char *at = theorem->supports; (at = strstr(at, id)); at += length) {
        const bool begins = at == theorem->supports || at[-1] == ' ';
        if (length && begins && (at[length] == ' ' || !at[length]))
            return true;
        if (!length)
            return false;
    }
    return false;
}

const tki_theorem *tki_theorem_find(const char *file, const char *name)
{
    for (const tki_theorem *t = tki_theorems; t->name; t++)
        if (!strcmp(t->name, name) && !strcmp(tki_proof_files[t->file].path, file))
            return t;
    return NULL;
}

bool tki_theorem_hash(const tki_theorem *theorem, char hex[TKI_HASH_HEX])
{
    tki_hash hash;
    tki_hash_begin(&hash);
    for (const int *part = tki_proof_files[theorem->file].parts; *part >= 0; part++)
        tki_hash_add(&hash, tki_proof_files[*part].text, tki_proof_files[*part].bytes);
    return tki_hash_finish(&hash, hex);
}

static bool has_a_bound(const tk_contract *contract)
{
    for (int i = 0; i < contract->clause_count; i++)
        if (contract->clauses[i].kind == TK_CLAUSE_ERROR || contract->clauses[i].kind == TK_CLAUSE_PROMISE)
            return true;
    return false;
}

/* By its mark, or by what the op says of it. */
static bool supports_clause(const tki_theorem *theorem, const tk_contract *contract, const char *id)
{
    const tki_judging *judging = tki_judging_of(contract);
    for (const tk_support *s = judging ? judging->supports : NULL; s && s->clause; s++)
        if (!strcmp(s->clause, id) && !strcmp(s->theorem, theorem->name) &&
            !strcmp(s->file, tki_proof_files[theorem->file].path))
            return true;
    return tki_theorem_supports(theorem, id);
}

/* What of the contract it supports; NULL if nothing. */
static json_t *supported(const tki_theorem *theorem, const tk_contract *contract)
{
    json_t *list = json_array();
    for (int i = 0; i < contract->clause_count; i++)
        if (supports_clause(theorem, contract, contract->clauses[i].id))
            json_array_append_new(list, json_string(contract->clauses[i].id));
    if (tki_theorem_supports(theorem, acceptance) && has_a_bound(contract))
        json_array_append_new(list, json_string(acceptance));
    if (json_array_size(list))
        return list;
    json_decref(list);
    return NULL;
}

json_t *tki_proofs_json(const tk_contract *contract)
{
    json_t *list = json_array();
    for (const tki_theorem *t = tki_theorems; t->name; t++) {
        char hash[TKI_HASH_HEX] = "";
        json_t *supports = supported(t, contract);
        const bool hashed = supports && tki_theorem_hash(t, hash);
        if (supports &&
            (json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "file", tki_proof_files[t->file].path,
                                                   "theorem", t->name, "sha256", hash, "supports", supports)) ||
             !hashed)) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

int tki_proofs_count(const json_t *proofs, const char *id)
{
    int count = 0;
    for (size_t i = 0; i < json_array_size(proofs); i++) {
        const json_t *supports = json_object_get(json_array_get(proofs, i), "supports");
        bool among = false;
        for (size_t k = 0; k < json_array_size(supports); k++) {
            const char *other = json_string_value(json_array_get(supports, k));
            among |= other && !strcmp(other, id);
        }
        count += among;
    }
    return count;
}

const char *tki_kernel_rests_on(const char *verdict, bool given)
{
    if (!strcmp(verdict, tk_verdict_name(TK_PROVED)))
        return "exhaustion";
    if (!strcmp(verdict, tk_verdict_name(TK_HELD)))
        return given ? "given_outputs" : "trials";
    return !strcmp(verdict, tk_verdict_name(TK_REFUTED)) ? "counterexample" : "nothing";
}

json_t *tki_rests_on_json(const json_t *clauses, const json_t *proofs, bool given)
{
    json_t *rests_on = json_object();
    for (size_t i = 0; i < json_array_size(clauses); i++) {
        const json_t *clause = json_array_get(clauses, i);
        const char *id = tki_text(clause, "id");
        json_object_set_new(rests_on, id,
                            json_pack("{s:s, s:s*}", "kernel",
                                      tki_kernel_rests_on(tki_text(clause, "verdict"), given), "derivation",
                                      tki_proofs_count(proofs, id) ? "theorem" : NULL));
    }
    return rests_on;
}

tki_citation tki_citation_of(const json_t *proof)
{
    char hash[TKI_HASH_HEX];
    const tki_theorem *theorem = tki_theorem_find(tki_text(proof, "file"), tki_text(proof, "theorem"));
    if (!theorem)
        return TKI_CITED_UNKNOWN;
    return tki_theorem_hash(theorem, hash) && !strcmp(hash, tki_text(proof, "sha256")) ? TKI_CITED_SAME
                                                                                       : TKI_CITED_CHANGED;
}

bool tk_theorem_at(int i, tk_theorem *theorem)
{
    const tki_theorem *t = tki_theorems;
    while (t->name && i > 0) {
        t++;
        i--;
    }
    if (i < 0 || !t->name)
        return false;
    *theorem = (tk_theorem){.file = tki_proof_files[t->file].path,
                            .name = t->name,
                            .supports = t->supports,
                            .says = t->says,
                            .statement = t->statement};
    return tki_theorem_hash(t, theorem->sha256);
}

bool tk_theorem_supports(const tk_theorem *theorem, const char *id)
{
    return tki_theorem_supports(&(tki_theorem){.supports = theorem->supports}, id);
}

const char *tk_proof_topic_at(int i, const char **what)
{
    const tki_proof_topic *topic = tki_proof_topics;
    while (topic->id && i-- > 0)
        topic++;
    *what = topic->what;
    return topic->id;
}

const char *tk_axiom_at(int i)
{
    const char *const *axiom = tki_axioms;
    while (*axiom && i-- > 0)
        axiom++;
    return *axiom;
}

bool tk_certificate_cites(const tk_certificate *certificate, int i, tk_citation *citation)
{
    static const char *const states[] = {
        [TKI_CITED_SAME] = "same", [TKI_CITED_CHANGED] = "changed", [TKI_CITED_UNKNOWN] = "unknown"};
    const json_t *proof = i < 0 || i > TKI_MOST_PROOFS
                              ? NULL
                              : json_array_get(tki_certificate_get(certificate, "proofs"), (size_t)i);
    if (!proof)
        return false;
    *citation = (tk_citation){.file = tki_text(proof, "file"),
                              .theorem = tki_text(proof, "theorem"),
                              .sha256 = tki_text(proof, "sha256"),
                              .state = states[tki_citation_of(proof)]};
    return true;
}

bool tk_certificate_rests_on(const tk_certificate *certificate, int i, tk_basis *basis)
{
    const json_t *clause = i < 0 ? NULL : json_array_get(tki_certificate_get(certificate, "clauses"), (size_t)i);
    const json_t *proofs = tki_certificate_get(certificate, "proofs");
    if (!clause)
        return false;
    *basis = (tk_basis){.clause = tki_text(clause, "id"),
                        .verdict = tki_text(clause, "verdict"),
                        .kernel = tki_kernel_rests_on(tki_text(clause, "verdict"),
                                                      tki_certificate_get(certificate, "run.given") != NULL),
                        .theorems = proofs ? tki_proofs_count(proofs, tki_text(clause, "id")) : -1};
    return true;
}
