/* SHOWS. tokitai keygen: a pair of keys to sign certificates with. */
#include <stdio.h>

#include "cli/cli.h"

typedef struct arguments {
    cli_words words;
    const char *file;
    bool force, json;
} arguments;

static const cli_option option_list[] = {CLI_FORCE("; what the old keys signed stays signed by them"), CLI_JSON, {0}};

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

static cli_exit run(int argc, char **argv)
{
    arguments a = {0};
    cli_parse(&cli_keygen, argc, argv, &a);
    a.file = a.words.list[0];
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return CLI_UNKNOWN;
    tk_key *key = NULL;
    tk_status status = tk_key_generate(ctx, &key);
    if (status == TK_OK)
        status = tk_key_write(ctx, key, a.file, a.force);
    cli_exit result = status == TK_OK ? print_key(&a, key) : cli_exit_with(argv[0], ctx, status);
    tk_key_destroy(key);
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_keygen = {
    .name = "keygen",
    .summary = "create a pair of keys to sign certificates",
    .arguments = "FILE",
    .words = offsetof(arguments, words),
    .options = option_list,
    .run = run,
    .doc = "Creates a pair of Ed25519 keys: FILE, the private one (PEM, PKCS#8, readable by its owner only), for "
           "'tokitai certify --sign', and FILE.pub, the public one (PEM, SubjectPublicKeyInfo), for 'tokitai check "
           "--key'. Prints the key's id, the SHA-256 of the public key in DER."
           "\vExit status: 0 the keys are written; 2 they could not be written, or one exists.",
};
