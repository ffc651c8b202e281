/* SHOWS. tokitai check: are certificates as they were written? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "glue/glue.h"

typedef struct arguments {
    cli_words files;
    const char *key, *artifact;
    bool json, markdown;
} arguments;

static const cli_option option_list[] = {
    CLI_ROW(CLI_TEXT, "key", "FILE.pub", key,
            "Verify the signatures with this Ed25519 key, a file in PEM. A certificate that it did not sign counts "
            "as altered"),
    CLI_ROW(
        CLI_TEXT, "artifact", "FILE", artifact,
        "Is FILE the library, or other artifact, that was judged? One with another SHA-256 counts as not trusted"),
    CLI_JSON,
    CLI_ROW(CLI_FLAG, "markdown", NULL, markdown,
            "Print the Markdown report of each intact certificate instead of a line", .excludes = "json"),
    {0},
};

/* "signed by KEYID, not verified" */
static void print_signatures(const tk_certificate *certificate, const tk_key *key)
{
    if (key) {
        printf("signed by %s, verified\n", tk_key_id(key));
        return;
    }
    const char *separator = "signed by ";
    for (int i = 0; i < tk_certificate_signatures(certificate); i++) {
        const char *signer = tk_certificate_signer(certificate, i);
        fputs(separator, stdout);
        cli_print(CLI_PLAIN, signer[0] ? signer : "an unnamed key");
        separator = " and ";
    }
    puts(tk_certificate_signatures(certificate) > 0 ? ", not verified" : "not signed");
}

static bool same_basis(const tk_basis *a, const tk_basis *b)
{
    return !strcmp(a->kernel, b->kernel) && (a->theorems > 0) == (b->theorems > 0);
}

/* "rests on theorems for steps of its derivation, on trials for this kernel" */
static void print_basis(const tk_basis *basis)
{
    static const struct {
        const char *kernel, *on, *about;
    } kept[] = {{"trials", "on trials", " for this kernel"},
                {"exhaustion", "on exhaustion", " for this kernel"},
                {"given_outputs", "on the judgement of these outputs", "; nothing was run"}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (strcmp(basis->kernel, kept[i].kernel) != 0)
            continue;
        if (basis->theorems > 0)
            printf("rests on theorems for steps of its derivation, %s%s", kept[i].on, kept[i].about);
        else
            printf("rests %s%s", kept[i].on, basis->theorems < 0 ? "; it was written without proofs" : " alone");
        return;
    }
    fputs(!strcmp(basis->kernel, "nothing") ? "not judged" : "refuted by a counterexample", stdout);
}

/* What agrees with itself may still be made up. */
static void print_unsigned(const tk_certificate *certificate)
{
    if (tk_certificate_signatures(certificate) == 0)
        puts("    unsigned: hashes, figures, machine and date not verified; run 'tokitai replay', or 'tokitai judge' "
             "on the same tensors");
}

/* A line for each kind of basis, with its clauses. */
static void print_bases(const tk_certificate *certificate)
{
    tk_basis basis, other;
    for (int i = 0; tk_certificate_rests_on(certificate, i, &basis); i++) {
        bool printed = false;
        for (int k = 0; k < i && tk_certificate_rests_on(certificate, k, &other); k++)
            printed |= same_basis(&basis, &other);
        if (printed)
            continue;
        fputs("    ", stdout);
        print_basis(&basis);
        const char *separator = ": ";
        for (int k = i; tk_certificate_rests_on(certificate, k, &other); k++) {
            if (!same_basis(&basis, &other))
                continue;
            fputs(separator, stdout);
            cli_print(CLI_PLAIN, other.clause);
            separator = ", ";
        }
        putchar('\n');
    }
}

/* What this certificate's own run did not show. */
static void print_mutants(const tk_certificate *certificate)
{
    int rejected;
    const int count = tk_certificate_mutants(certificate, &rejected);
    if (!tk_certificate_mutants_kept(certificate)[0])
        return;
    printf("    mutants: %d of %d rejected on ", rejected, count);
    cli_print(CLI_PLAIN, tk_certificate_mutants_kept(certificate));
    puts(" by the same build, and not run again for this certificate; 'tokitai replay' runs them");
}

static void print_intact(const char *file, const tk_certificate *certificate, const char *remarks, const tk_key *key)
{
    tk_verdict verdict = tk_certificate_verdict(certificate);
    cli_print(CLI_PLAIN, file);
    printf(": ");
    cli_print(CLI_PLAIN, tk_certificate_subject(certificate));
    printf(" ");
    cli_print(cli_style_of(verdict), tk_certificate_headline(certificate));
    if (remarks)
        printf("; ");
    cli_print(CLI_PLAIN, remarks ? remarks : "");
    printf("; intact; ");
    print_signatures(certificate, key);
    print_bases(certificate);
    print_mutants(certificate);
    print_unsigned(certificate);
}

static json_t *json_bases(const tk_certificate *certificate)
{
    json_t *list = json_array();
    tk_basis basis;
    for (int i = 0; tk_certificate_rests_on(certificate, i, &basis); i++) {
        json_t *item = json_pack("{s:o, s:o, s:s}", "clause", cli_json_text(basis.clause), "verdict",
                                 cli_json_text(basis.verdict), "kernel", basis.kernel);
        if (basis.theorems >= 0)
            json_object_set_new(item, "theorems", json_integer(basis.theorems));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *json_citations(const tk_certificate *certificate)
{
    json_t *list = json_array();
    tk_citation citation;
    for (int i = 0; tk_certificate_cites(certificate, i, &citation); i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:s}", "file", cli_json_text(citation.file), "theorem",
                                              cli_json_text(citation.theorem), "sha256",
                                              cli_json_text(citation.sha256), "state", citation.state));
    return list;
}

/* `certificate` is NULL if the file is not intact, `message` empty if nothing is wrong. */
static json_t *json_result(const char *file, const char *message, const tk_certificate *certificate,
                           const char *remarks, const tk_key *key)
{
    json_t *item = json_pack("{s:o, s:b}", "file", cli_json_text(file), "intact", certificate != NULL);
    if (message[0])
        json_object_set_new(item, "error", cli_json_text(message));
    if (!certificate)
        return item;
    json_t *signers = json_array();
    for (int i = 0; i < tk_certificate_signatures(certificate); i++)
        json_array_append_new(signers, cli_json_text(tk_certificate_signer(certificate, i)));
    json_object_set_new(item, "signed", json_boolean(tk_certificate_signatures(certificate) > 0));
    json_object_set_new(item, "signed_by", signers);
    if (key)
        json_object_set_new(item, "verified", json_boolean(!message[0]));
    json_object_set_new(item, "subject", cli_json_text(tk_certificate_subject(certificate)));
    json_object_set_new(item, "verdict", json_string(tk_verdict_name(tk_certificate_verdict(certificate))));
    json_object_set_new(item, "headline", cli_json_text(tk_certificate_headline(certificate)));
    if (tk_certificate_mutants_kept(certificate)[0])
        json_object_set_new(item, "mutants_kept", cli_json_text(tk_certificate_mutants_kept(certificate)));
    if (remarks)
        json_object_set_new(item, "remarks", cli_json_text(remarks));
    json_object_set_new(item, "rests_on", json_bases(certificate));
    json_object_set_new(item, "proofs", json_citations(certificate));
    return item;
}

static cli_exit print_page(const char *who, tk_certificate *certificate)
{
    const char *page = tk_certificate_markdown(certificate);
    if (!page) {
        cli_complain(who, "out of memory");
        return CLI_UNKNOWN;
    }
    fputs(page, stdout);
    return CLI_HOLDS;
}

/* The same for a certificate of 'tokitai glue'; it has no page. */
static cli_exit check_glue(const char *who, tk_ctx *ctx, const char *file, const tk_key *key, json_t *list)
{
    char *line = NULL;
    bool is_signed = false;
    tk_status status = tki_glue_certificate_check(ctx, file, key, &line, &is_signed);
    const bool good = status == TK_OK;
    if (list)
        json_array_append_new(list, json_pack("{s:o, s:b, s:o}", "file", cli_json_text(file), "intact", good,
                                              good ? "headline" : "error",
                                              cli_json_text(good ? line : tk_ctx_message(ctx))));
    if (!good)
        cli_complain(who, "not intact, or not trusted: %s: %s", file, tk_ctx_message(ctx));
    else if (!list) {
        cli_print(CLI_PLAIN, file);
        fputs(": ", stdout);
        cli_print(CLI_PLAIN, line);
        printf("; intact%s%s%s\n", key ? "; signed by " : "", key ? tk_key_id(key) : "", key ? ", verified" : "");
        if (!is_signed)
            puts("    unsigned: hashes and counts not verified; run 'tokitai glue' on the same shards");
    }
    free(line);
    return cli_exit_of(status, CLI_REFUTED);
}

/* Appends to `list` if there is one, else prints. Without `key`, signatures are not verified. */
static cli_exit check_file(const arguments *a, const char *who, tk_ctx *ctx, const char *file, const tk_key *key,
                           json_t *list)
{
    if (tki_is_glue_certificate(ctx, file))
        return check_glue(who, ctx, file, key, list);
    tk_certificate *certificate = NULL;
    tk_status status = tk_certificate_read(ctx, file, &certificate);
    char *remarks = NULL;
    if (status == TK_OK)
        status = tk_certificate_remarks(ctx, certificate, &remarks);
    bool intact = status == TK_OK;
    if (intact && key)
        status = tk_certificate_verify(ctx, certificate, key);
    if (status == TK_OK && a->artifact)
        status = tk_certificate_names_artifact(ctx, certificate, a->artifact);
    const char *message = status == TK_OK ? "" : tk_ctx_message(ctx);
    cli_exit result = cli_exit_of(status, CLI_REFUTED);
    if (list)
        json_array_append_new(list, json_result(file, message, intact ? certificate : NULL, remarks, key));
    if (status != TK_OK && intact)
        cli_complain(who, "not trusted: %s: %s", file, message);
    else if (status == TK_BAD_FILE)
        cli_complain(who, "not intact: %s", message);
    else if (status != TK_OK)
        cli_complain(who, "%s", message);
    else if (a->markdown)
        result = print_page(who, certificate);
    else if (!list)
        print_intact(file, certificate, remarks, key);
    free(remarks);
    tk_certificate_destroy(certificate);
    return result;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {0};
    cli_parse(&cli_check, argc, argv, &a);
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return CLI_UNKNOWN;
    tk_key *key = NULL;
    tk_status status = a.key ? tk_key_read(ctx, a.key, &key) : TK_OK;
    cli_exit result = cli_exit_of(status, CLI_BAD);
    if (status != TK_OK) {
        cli_complain(argv[0], "--key: %s", tk_ctx_message(ctx));
    } else {
        json_t *list = a.json ? json_array() : NULL;
        for (int i = 0; i < a.files.count; i++)
            result = cli_worse(result, check_file(&a, argv[0], ctx, a.files.list[i], key, list));
        if (a.json)
            result = cli_worse(result, cli_print_json(list));
    }
    tk_key_destroy(key);
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_check = {
    .name = "check",
    .summary = "check that certificates are unaltered and consistent",
    .arguments = "CERT...",
    .words = offsetof(arguments, files),
    .options = option_list,
    .run = run,
    .doc = "Reads certificates, plain (NAME.json) or in a signed envelope (NAME.dsse.json), and reports for each "
           "whether it is byte for byte as it was written and consistent, its subject, its verdict, its signer, and "
           "what each clause rests on: theorems for steps of its derivation, and for the kernel exhaustion (every "
           "input value was tried), trials, or the judgement of given outputs. Members that follow from others are "
           "computed again and compared; members that do not belong to its kind of subject are refused. Hashes of "
           "cited theorems are compared with the proofs of this version; a theorem that has changed or is missing is "
           "named and does not change the exit status. Nothing is run, and no proof is checked. A certificate has "
           "its own SHA-256, which detects damage and accidental edits; only a signature shows who wrote it."
           "\vExit status: 0 all are intact, signed by the key and of the artifact if they are given; 1 one was "
           "altered or damaged, "
           "contradicts itself, is not signed by the key, or names another artifact; 2 one, the key or the artifact "
           "could not be read.",
};
