/* tokitai shard: one file becomes shards. */
#include <argp.h>

#include "cli/shards.h"

enum { KEY_JSON = 256 };

typedef struct arguments {
    cli_join join;
    cli_layout layout;
    cli_rules none;
    char *file;
    const char *out;
} arguments;

static const struct argp_option option_list[] = {
    {"output", 'o', "PREFIX", 0, "Write PREFIX-00001-of-0000N.safetensors and so on", 0},
    {"json", KEY_JSON, NULL, 0, "Print the outcome as JSON", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->layout; return 0;
    case 'o': a->out = argument; return 0;
    case KEY_JSON: a->join.json = true; return 0;
    case ARGP_KEY_ARG:
        if (a->file)
            argp_error(state, "one file at a time, please; 'tokitai reshard' takes shards");
        a->file = argument;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which file shall be split?"); return 0;
    case ARGP_KEY_END:
        if (!a->out)
            argp_error(state, "what shall the shards be called? give -o PREFIX");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cli_layout_argp, 0, NULL, 0}, {0}};

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .children = children,
    .args_doc = "FILE -o PREFIX --count N",
    .doc = "Splits a safetensors file into shards. Each shard names the places and the SHA-256 of its sections, the "
           "number of shards and the checkpoint that they are of, so that 'tokitai glue' needs nothing else."
           "\vExit status: 0 the shards are written; 2 wrong usage, or a file that cannot be read or written.",
};

cli_exit cli_shard(int argc, char **argv)
{
    static arguments a;
    if (cli_parse(&command, argc, argv, 0, &a) != 0)
        return CLI_BAD;
    a.join.only_split = true;
    a.join.options.skip_certificate = true;
    return cli_run_join(argv[0], &a.file, 1, &a.none, &a.join, a.out, &a.layout);
}
