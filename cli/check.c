/* tokitai check: are certificates as they were written? */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

enum { KEY_JSON = 256 };

typedef struct arguments {
    char **files; /* [count], into argv */
    int count;
    bool json;
} arguments;

static const struct argp_option option_list[] = {
    {"json", KEY_JSON, NULL, 0, "Print JSON instead of text", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    (void)argument;
    switch (key) {
    case KEY_JSON: a->json = true; return 0;
    case ARGP_KEY_ARGS:
        a->files = state->argv + state->next;
        a->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which certificate? give at least one file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "CERT...",
    .doc = "Tells whether each certificate is exactly as it was written, what it is about and what its verdict is. "
           "Nothing is run; 'tokitai replay' does that."
           "\vExit status: 0 all are intact, 1 one was altered or damaged, 2 one could not be read.",
};

static void print_intact(const char *file, const tk_certificate *certificate)
{
    tk_verdict verdict = tk_certificate_verdict(certificate);
    cli_print(CLI_PLAIN, file);
    printf(": ");
    cli_print(CLI_PLAIN, tk_certificate_subject(certificate));
    printf(" ");
    cli_print(cli_style_of(verdict), tk_verdict_name(verdict));
    printf("; intact; not signed\n");
}

static json_t *json_result(const char *file, tk_status status, const char *message, const tk_certificate *certificate)
{
    json_t *item = json_pack("{s:o, s:b}", "file", cli_json_text(file), "intact", status == TK_OK);
    if (status != TK_OK) {
        json_object_set_new(item, "error", cli_json_text(message));
        return item;
    }
    json_object_set_new(item, "signed", json_false());
    json_object_set_new(item, "subject", cli_json_text(tk_certificate_subject(certificate)));
    json_object_set_new(item, "verdict", json_string(tk_verdict_name(tk_certificate_verdict(certificate))));
    return item;
}

/* Appends to `list` if there is one, else prints. */
static cli_exit check_file(const char *who, tk_ctx *ctx, const char *file, json_t *list)
{
    tk_certificate *certificate = NULL;
    tk_status status = tk_certificate_read(ctx, file, &certificate);
    const char *message = status == TK_OK ? "" : tk_ctx_message(ctx);
    if (list)
        json_array_append_new(list, json_result(file, status, message, certificate));
    if (status == TK_BAD_FILE)
        cli_complain(who, "not intact: %s", message);
    else if (status != TK_OK)
        cli_complain(who, "%s", message);
    else if (!list)
        print_intact(file, certificate);
    tk_certificate_destroy(certificate);
    return cli_exit_of(status, CLI_REFUTED);
}

cli_exit cli_check(int argc, char **argv)
{
    arguments a = {0};
    if (argp_parse(&command, argc, argv, 0, NULL, &a) != 0)
        return CLI_BAD;
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK) {
        cli_complain(argv[0], "out of memory");
        return CLI_UNKNOWN;
    }
    json_t *list = a.json ? json_array() : NULL;
    cli_exit result = CLI_HOLDS;
    for (int i = 0; i < a.count; i++)
        result = cli_worse(result, check_file(argv[0], ctx, a.files[i], list));
    if (a.json)
        result = cli_worse(result, cli_print_json(list));
    tk_ctx_destroy(ctx);
    return result;
}
