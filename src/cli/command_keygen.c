/* tokitai keygen: a pair of keys to sign certificates with. */
#include <argp.h>
#include <stdio.h>

#include "cli/cli.h"

enum { KEY_JSON = 256, KEY_FORCE };

typedef struct arguments {
    const char *file;
    bool force;
    bool json;
} arguments;

static const struct argp_option option_list[] = {
    {"force", KEY_FORCE, NULL, 0, "Replace keys that are there already; what they signed stays signed by them", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON instead of text", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_FORCE: a->force = true; return 0;
    case KEY_JSON: a->json = true; return 0;
    case ARGP_KEY_ARG:
        if (a->file)
            argp_error(state, "one file at a time, please");
        a->file = argument;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which file shall hold the private key?"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "FILE",
    .doc =
        "Makes a pair of Ed25519 keys: FILE, the private one (PEM, PKCS#8, readable by its owner only), for 'tokitai "
        "certify --sign', and FILE.pub, the public one (PEM, SubjectPublicKeyInfo), for 'tokitai check --key'. "
        "Prints the key's id, the SHA-256 of the public key in DER."
        "\vExit status: 0 the keys are written, 2 they could not be, or one is there already.",
};

static cli_exit print_key(const arguments *a, const tk_key *key)
{
    if (a->json)
        return cli_print_json(json_pack("{s:o, s:s}", "file", cli_json_text(a->file), "keyid", tk_key_id(key)));
    cli_print(CLI_PLAIN, a->file);
    fputs(", ", stdout);
    cli_print(CLI_PLAIN, a->file);
    printf(".pub: key %s\n", tk_key_id(key));
    return CLI_HOLDS;
}

cli_exit cli_keygen(int argc, char **argv)
{
    arguments a = {0};
    if (cli_parse(&command, argc, argv, 0, &a) != 0)
        return CLI_BAD;
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return CLI_UNKNOWN;
    tk_key *key = NULL;
    tk_status status = tk_key_generate(ctx, &key);
    if (status == TK_OK)
        status = tk_key_write(ctx, key, a.file, a.force);
    cli_exit result = cli_exit_of(status, CLI_BAD);
    if (status != TK_OK)
        cli_complain(argv[0], "%s", tk_ctx_message(ctx));
    else
        result = print_key(&a, key);
    tk_key_destroy(key);
    tk_ctx_destroy(ctx);
    return result;
}
