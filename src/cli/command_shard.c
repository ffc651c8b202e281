/* SHOWS. tokitai shard: one file becomes shards. */

#include "cli/shards.h"

typedef struct arguments {
    cli_words words;
    cli_layout layout;
    const char *output;
    bool json;
} arguments;

static const cli_option option_list[] = {
    CLI_OUTPUT("PREFIX", "Write PREFIX-00001-of-0000N.safetensors and so on", .required = true),
    CLI_JSON,
    {.kind = CLI_ROWS, .rows = cli_layout_options, .place = offsetof(arguments, layout)},
    {0},
};

static cli_exit run(int argc, char **argv)
{
    static arguments a = {.layout.replicas = 1};
    static cli_join join = {.only_split = true, .no_certificate = true};
    static const cli_rules none;
    cli_parse(&cli_shard, argc, argv, &a);
    join.json = a.json;
    return cli_run_join(argv[0], a.words.list, 1, &none, &join, a.output, &a.layout);
}

const cli_command cli_shard = {
    .name = "shard",
    .summary = "split a safetensors file into shards",
    .arguments = "FILE.safetensors",
    .words = offsetof(arguments, words),
    .options = option_list,
    .run = run,
    .doc = "Splits a safetensors file into shards. Each shard names the places and the SHA-256 of its sections, the "
           "number of shards and the checkpoint that they are of, so that 'tokitai glue' needs nothing else."
           "\vExit status: 0 the shards are written; 2 wrong usage, or a file that cannot be read or written.",
};
