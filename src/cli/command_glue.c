/* tokitai glue: shards that agree become one file, or the obstruction is named. */
#include <argp.h>
#include <string.h>

#include "cli/shards.h"

enum { KEY_CONCAT = 256, KEY_PLACE };

typedef struct arguments {
    cli_join join;
    cli_rules placements;
    char **shards; /* [count], into argv */
    int count;
    const char *out;
} arguments;

static const struct argp_option option_list[] = {
    {"output", 'o', "OUT", 0, "The file to write; OUT.glue.json becomes its certificate", 0},
    {"concat-dim", KEY_CONCAT, "DIM", 0,
     "Lay tensors that no --rule fits, and that have this axis, behind each other along it, in the order of the "
     "shards",
     0},
    {"rule", KEY_PLACE, "PATTERN=DIM", 0,
     "Lay tensors with such a name behind each other along this axis; with PATTERN=replicate they are replicas; the "
     "first rule that fits counts; may be repeated",
     0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    static char all[] = "*";
    static int concat_axis;
    static bool has_concat;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->join;
        concat_axis = 0;
        has_concat = false;
        return 0;
    case 'o': a->out = argument; return 0;
    case KEY_CONCAT:
        concat_axis = (int)cli_number(state, "--concat-dim", argument, -TKI_TENSOR_MAX_RANK, TKI_TENSOR_MAX_RANK - 1);
        has_concat = true;
        return 0;
    case KEY_PLACE: cli_add_rule(state, &a->placements, argument); return 0;
    case ARGP_KEY_ARGS:
        a->shards = state->argv + state->next;
        a->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which shards? give at least one"); return 0;
    case ARGP_KEY_END:
        if (!a->out)
            argp_error(state, "which file shall be written? give -o OUT");
        if (has_concat && a->placements.count == CLI_MAX_RULES)
            argp_error(state, "more than %d rules", CLI_MAX_RULES);
        if (has_concat)
            a->placements.list[a->placements.count++] = (tki_rule){
                .pattern = all, .axis = concat_axis, .if_it_can = true};
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cli_join_argp, 0, NULL, 0}, {0}};

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .children = children,
    .args_doc = "SHARD... -o OUT",
    .doc =
        "Joins shards of a checkpoint, safetensors files, if every element has a shard and all shards that have it "
        "agree on its bits; otherwise names each obstruction and writes nothing. Where the sections lie is read "
        "from the shards themselves ('tokitai shard' writes it there), from an index or a manifest, given in the "
        "place of the shards, or from --rule and --concat-dim. Tensors that nothing is said of are whole, and "
        "those of the same name are replicas, which are compared."
        "\vExit status: 0 glued, or chosen as the options say; 1 an obstruction; 2 wrong usage, or a file that "
        "cannot be read or written; 3 cannot tell.",
};

cli_exit cli_glue(int argc, char **argv)
{
    static arguments a;
    if (cli_parse(&command, argc, argv, 0, &a) != 0)
        return CLI_BAD;
    return cli_run_join(argv[0], a.shards, (size_t)a.count, &a.placements, &a.join, a.out, NULL);
}
