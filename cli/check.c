/* tokitai check: are certificates as they were written? */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

enum { KEY_JSON = 256, KEY_KEY, KEY_MARKDOWN };

typedef struct arguments {
    char **files; /* [count], into argv */
    int count;
    const char *key;
    bool json, markdown;
} arguments;

static const struct argp_option option_list[] = {
    {"key", KEY_KEY, "PUB", 0, "Verify the signature: each must be signed by this Ed25519 key, a file in PEM", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON instead of text", 0},
    {"markdown", KEY_MARKDOWN, NULL, 0, "Print the page of each intact certificate instead of a line", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_KEY:
        if (a->key)
            argp_error(state, "--key is given twice");
        a->key = argument;
        return 0;
    case KEY_JSON: a->json = true; return 0;
    case KEY_MARKDOWN: a->markdown = true; return 0;
    case ARGP_KEY_ARGS:
        a->files = state->argv + state->next;
        a->count = state->argc - state->next;
        if (a->json && a->markdown)
            argp_error(state, "--json and --markdown exclude each other");
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which certificate? give at least one file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "CERT...",
    .doc = "Tells whether each certificate is exactly as it was written and agrees with itself, what it is about, "
           "what its verdict is and who "
           "signed it. A certificate is a Statement (NAME.json) or one in a signed envelope (NAME.dsse.json). "
           "Nothing is run; 'tokitai replay' does that."
           "\vExit status: 0 all are intact, and signed by the key if one is given; 1 one was altered or damaged, "
           "contradicts itself, or is "
           "not signed by the key; 2 one, or the key, could not be read.",
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
    if (remarks)
        json_object_set_new(item, "remarks", cli_json_text(remarks));
    return item;
}

static cli_exit print_page(const char *who, tk_certificate *certificate)
{
    const char *page = tk_certificate_markdown(certificate);
    if (!page) {
        cli_complain(who, "no memory for the certificate's page");
        return CLI_UNKNOWN;
    }
    fputs(page, stdout);
    return CLI_HOLDS;
}

/* Appends to `list` if there is one, else prints. Without `key`, signatures are not verified. */
static cli_exit check_file(const char *who, tk_ctx *ctx, const char *file, const tk_key *key, bool markdown,
                           json_t *list)
{
    tk_certificate *certificate = NULL;
    tk_status status = tk_certificate_read(ctx, file, &certificate);
    char *remarks = NULL;
    if (status == TK_OK)
        status = tk_certificate_agrees(ctx, certificate);
    if (status == TK_OK)
        status = tk_certificate_remarks(ctx, certificate, &remarks);
    bool intact = status == TK_OK;
    if (intact && key)
        status = tk_certificate_verify(ctx, certificate, key);
    const char *message = status == TK_OK ? "" : tk_ctx_message(ctx);
    cli_exit result = cli_exit_of(status, CLI_REFUTED);
    if (list)
        json_array_append_new(list, json_result(file, message, intact ? certificate : NULL, remarks, key));
    if (status != TK_OK && intact)
        cli_complain(who, "not trusted: %s: %s", file, message);
    else if (status == TK_BAD_FILE && certificate)
        cli_complain(who, "not intact: %s: %s", file, message);
    else if (status == TK_BAD_FILE)
        cli_complain(who, "not intact: %s", message);
    else if (status != TK_OK)
        cli_complain(who, "%s", message);
    else if (markdown)
        result = print_page(who, certificate);
    else if (!list)
        print_intact(file, certificate, remarks, key);
    free(remarks);
    tk_certificate_destroy(certificate);
    return result;
}

cli_exit cli_check(int argc, char **argv)
{
    arguments a = {0};
    if (cli_parse(&command, argc, argv, 0, &a) != 0)
        return CLI_BAD;
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
        for (int i = 0; i < a.count; i++)
            result = cli_worse(result, check_file(argv[0], ctx, a.files[i], key, a.markdown, list));
        if (a.json)
            result = cli_worse(result, cli_print_json(list));
    }
    tk_key_destroy(key);
    tk_ctx_destroy(ctx);
    return result;
}
