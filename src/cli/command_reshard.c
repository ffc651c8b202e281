/* tokitai reshard: shards of one layout become shards of another. */
#include <argp.h>

#include "cli/shards.h"

enum { KEY_IN_RULE = 256 };

typedef struct arguments {
    cli_join join;
    cli_layout layout;
    cli_rules placements;
    char **shards; /* [count], into argv */
    int count;
    const char *out;
} arguments;

static const struct argp_option option_list[] = {
    {"output", 'o', "PREFIX", 0,
     "Write PREFIX-00001-of-0000N.safetensors and so on; PREFIX.glue.json becomes their certificate", 0},
    {"in-rule", KEY_IN_RULE, "PATTERN=DIM", 0,
     "How the tensors of the given shards lie, as --rule of 'tokitai glue'; may be repeated", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->join;
        state->child_inputs[1] = &a->layout;
        return 0;
    case 'o': a->out = argument; return 0;
    case KEY_IN_RULE: cli_add_rule(state, &a->placements, argument); return 0;
    case ARGP_KEY_ARGS:
        a->shards = state->argv + state->next;
        a->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which shards? give at least one"); return 0;
    case ARGP_KEY_END:
        if (!a->out)
            argp_error(state, "what shall the shards be called? give -o PREFIX");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cli_join_argp, 0, NULL, 0}, {&cli_layout_argp, 0, NULL, 0}, {0}};

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .children = children,
    .args_doc = "SHARD... -o PREFIX --count N",
    .doc =
        "Changes the layout of a sharded checkpoint in one pass, without the whole of it in memory or on the disk. "
        "What 'tokitai glue' compares is compared, and each obstruction is named as there."
        "\vExit status: 0 the shards are written; 1 an obstruction; 2 wrong usage, or a file that cannot be read or "
        "written; 3 cannot tell.",
};

cli_exit cli_reshard(int argc, char **argv)
{
    static arguments a;
    if (cli_parse(&command, argc, argv, 0, &a) != 0)
        return CLI_BAD;
    return cli_run_join(argv[0], a.shards, (size_t)a.count, &a.placements, &a.join, a.out, &a.layout);
}
