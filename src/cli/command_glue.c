/* SHOWS. tokitai glue: shards that agree become one file, or the obstruction is named. */
#include <stdlib.h>

#include "cli/shards.h"

typedef struct arguments {
    cli_words shards;
    cli_join join;
    cli_texts placements;
    int concat_dim;
    const char *output;
} arguments;

static const cli_option option_list[] = {
    CLI_OUTPUT("FILE",
               "File to write, which appears when it is complete; FILE.glue.json becomes its certificate, with the "
               "cover, the SHA-256 of every section and of the result, and the overlaps that were compared",
               .required = true),
    CLI_ROW(
        CLI_TEXTS, "rule", "PATTERN=DIM", placements,
        "Concatenate the tensors whose names match along this axis, in the order of the shards; with "
        "PATTERN=replicate they are replicas. The first rule that matches counts; a rule that matches no tensor is "
        "refused, and so are rules for shards that an index, a manifest or they themselves place. May be repeated"),
    CLI_ROW(CLI_INT, "concat-dim", "DIM", concat_dim,
            "The same for all tensors that no rule matches and that have this axis", .least = -TKI_TENSOR_MAX_RANK,
            .most = TKI_TENSOR_MAX_RANK - 1),
    {.kind = CLI_ROWS, .rows = cli_join_options, .place = offsetof(arguments, join)},
    {0},
};

static cli_exit run(int argc, char **argv)
{
    enum { NONE = INT32_MAX };
    static arguments a;
    static char all[] = "*";
    a.concat_dim = NONE;
    cli_parse(&cli_glue, argc, argv, &a);
    cli_rules *rules = cli_rules_of(argv[0], "rule", &a.placements);
    if (!rules)
        return CLI_BAD;
    if (a.concat_dim != NONE)
        rules->list[rules->count++] = (tki_rule){.pattern = all, .axis = a.concat_dim, .if_it_can = true};
    cli_exit result = cli_run_join(argv[0], a.shards.list, (size_t)a.shards.count, rules, &a.join, a.output, NULL);
    free(rules);
    return result;
}

const cli_command cli_glue = {
    .name = "glue",
    .summary = "join shards that agree on every overlap, or name the obstruction",
    .arguments = "SHARD...",
    .words = offsetof(arguments, shards),
    .options = option_list,
    .run = run,
    .doc = "Joins the shards of a checkpoint, safetensors files, if every element has a shard and all shards that "
           "have it agree on its bits. Otherwise each obstruction is named (its kind, the tensor, the shards, the "
           "box, the first element that differs with its bits in both, and how many differ), nothing is written, and "
           "the exit status is 1. The places of sections are read from the shards, as 'tokitai shard' writes them, "
           "from an index (model.safetensors.index.json) or a manifest, given instead of the shards, or from --rule "
           "and --concat-dim. Other tensors are whole; those of one name are replicas, which are compared."
           "\vExit status: 0 glued, or chosen as the options say; 1 an obstruction; 2 wrong usage, or a file that "
           "cannot be read or written; 3 undecided.",
};
