/* SHOWS. tokitai ops --proof: what the clauses of an op rest on. */
#include "cli/ops_proof.h"

#include <stdio.h>
#include <string.h>

static int count_theorems(const char *id)
{
    tk_theorem theorem;
    int count = 0;
    for (int i = 0; tk_theorem_at(i, &theorem); i++)
        count += tk_theorem_supports(&theorem, id);
    return count;
}

static bool has_a_bound(const tk_contract *contract)
{
    for (int i = 0; i < contract->clause_count; i++)
        if (contract->clauses[i].kind == TK_CLAUSE_ERROR || contract->clauses[i].kind == TK_CLAUSE_PROMISE)
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------------
 * JSON
 * ------------------------------------------------------------------------------------------------------------ */

static json_t *json_theorem(const tk_theorem *theorem)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "file", theorem->file, "theorem", theorem->name, "supports",
                     theorem->supports, "says", theorem->says, "statement", theorem->statement, "sha256",
                     theorem->sha256);
}

/* With `id` NULL all of them. */
static json_t *json_theorems(const char *id)
{
    tk_theorem theorem;
    json_t *list = json_array();
    for (int i = 0; tk_theorem_at(i, &theorem); i++)
        if (!id || tk_theorem_supports(&theorem, id))
            json_array_append_new(list, json_theorem(&theorem));
    return list;
}

static json_t *json_axioms(void)
{
    json_t *list = json_array();
    for (int i = 0; tk_axiom_at(i); i++)
        json_array_append_new(list, json_string(tk_axiom_at(i)));
    return list;
}

static json_t *json_chain(const tk_contract *contract)
{
    json_t *clauses = json_array();
    for (int i = 0; i < contract->clause_count; i++)
        json_array_append_new(clauses, json_pack("{s:s, s:s, s:o}", "id", contract->clauses[i].id, "text",
                                                 contract->clauses[i].text, "theorems",
                                                 json_theorems(contract->clauses[i].id)));
    json_t *chain = json_pack("{s:s, s:o, s:o}", "op", contract->name, "clauses", clauses, "axioms", json_axioms());
    if (has_a_bound(contract))
        json_object_set_new(chain, "acceptance", json_theorems("ACCEPTANCE"));
    return chain;
}

/* ------------------------------------------------------------------------------------------------------------
 * Text
 * ------------------------------------------------------------------------------------------------------------ */

static void print_theorem(const tk_theorem *theorem)
{
    printf("  %s, %s, SHA-256 %.16s\n      ", theorem->name, theorem->file, theorem->sha256);
    cli_wrap(6, 6, theorem->says);
}

static void print_theorems(const char *id)
{
    tk_theorem theorem;
    for (int i = 0; tk_theorem_at(i, &theorem); i++)
        if (tk_theorem_supports(&theorem, id))
            print_theorem(&theorem);
}

static bool same_module(const char *a, const char *b)
{
    const char *end = strrchr(a, '.');
    const size_t length = end ? (size_t)(end - a) + 1 : strlen(a);
    return !strncmp(a, b, length) && !strchr(b + length, '.');
}

/* By module: of the processor's numbers there are dozens. */
static void print_axioms(void)
{
    cli_heading("What every theorem may assume: axioms of Coq's standard library, and nothing else");
    for (int i = 0; tk_axiom_at(i);) {
        int count = 0;
        const char *axiom = tk_axiom_at(i);
        while (tk_axiom_at(i + count) && same_module(axiom, tk_axiom_at(i + count)))
            count++;
        if (count > 3)
            printf("  %.*s: %d\n", (int)(strrchr(axiom, '.') - axiom), axiom, count);
        for (int k = 0; k < count && count <= 3; k++)
            printf("  %s\n", tk_axiom_at(i + k));
        i += count;
    }
}

static void print_limits(void)
{
    cli_heading("What is only tested");
    fputs("  ", stdout);
    cli_wrap(2, 2,
             "A theorem is about the contract, in the arithmetic that it assumes. That a kernel keeps a clause is "
             "tested: by trials, or by trying every input; 'tokitai check' says which, for each clause of a "
             "certificate. proofs/check.sh checks the proofs, docs/proofs.md says what is proved and what is not.");
}

static void print_chain(const tk_contract *contract)
{
    cli_print(CLI_BOLD, contract->name);
    printf(": %s\n", contract->summary);
    for (int i = 0; i < contract->clause_count; i++) {
        if (!count_theorems(contract->clauses[i].id))
            continue;
        cli_heading(contract->clauses[i].id);
        fputs("  ", stdout);
        cli_wrap(2, 2, contract->clauses[i].text);
        puts("  Theorems that are steps of its derivation:");
        print_theorems(contract->clauses[i].id);
    }
    const char *id, *what;
    for (int i = 0; (id = tk_proof_topic_at(i, &what)); i++) {
        if (strcmp(id, "ACCEPTANCE") != 0 || !has_a_bound(contract))
            continue;
        cli_heading(id);
        printf("  %s\n", what);
        print_theorems(id);
    }
    cli_heading("Clauses without a theorem");
    for (int i = 0; i < contract->clause_count; i++)
        if (!count_theorems(contract->clauses[i].id))
            printf("  %s\n", contract->clauses[i].id);
    print_axioms();
    print_limits();
}

static void print_all(void)
{
    tk_theorem theorem;
    const char *last = "";
    for (int i = 0; tk_theorem_at(i, &theorem); i++) {
        if (strcmp(last, theorem.file) != 0)
            cli_heading(theorem.file);
        last = theorem.file;
        print_theorem(&theorem);
        fputs("      supports ", stdout);
        cli_wrap(6, 15, theorem.supports);
    }
    cli_heading("What is not a clause");
    const char *id, *what;
    for (int i = 0; (id = tk_proof_topic_at(i, &what)); i++)
        printf("  %-12s %s\n", id, what);
    print_axioms();
    print_limits();
}

cli_exit cli_ops_proof(const tk_contract *contract, bool json)
{
    if (json && contract)
        return cli_print_json(json_chain(contract));
    if (json)
        return cli_print_json(json_pack("{s:o, s:o}", "theorems", json_theorems(NULL), "axioms", json_axioms()));
    if (contract)
        print_chain(contract);
    else
        print_all();
    return CLI_HOLDS;
}
