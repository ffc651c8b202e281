/* SHOWS. tokitai reshard: shards of one layout become shards of another. */
#include <stdlib.h>

#include "cli/shards.h"

typedef struct arguments {
    cli_words shards;
    cli_join join;
    cli_layout layout;
    cli_texts placements;
    const char *output;
} arguments;

static const cli_option option_list[] = {
    CLI_OUTPUT("PREFIX",
               "Write PREFIX-00001-of-0000N.safetensors and so on; PREFIX.glue.json becomes their certificate",
               .required = true),
    CLI_ROW(CLI_TEXTS, "in-rule", "PATTERN=DIM", placements,
            "How the tensors of the given shards are cut, like --rule of 'tokitai glue'. May be repeated"),
    CLI_HEADING("How shards are compared:"),
    {.kind = CLI_ROWS, .rows = cli_join_options, .place = offsetof(arguments, join)},
    CLI_HEADING("How the result is cut:"),
    {.kind = CLI_ROWS, .rows = cli_layout_options, .place = offsetof(arguments, layout)},
    {0},
};

static cli_exit run(int argc, char **argv)
{
    static arguments a = {.layout.replicas = 1};
    cli_parse(&cli_reshard, argc, argv, &a);
    cli_rules *rules = cli_rules_of(argv[0], "in-rule", &a.placements);
    cli_exit result = CLI_BAD;
    if (rules)
        result = cli_run_join(argv[0], a.shards.list, (size_t)a.shards.count, rules, &a.join, a.output, &a.layout);
    free(rules);
    return result;
}

const cli_command cli_reshard = {
    .name = "reshard",
    .summary = "change the layout of a sharded checkpoint",
    .arguments = "SHARD...",
    .words = offsetof(arguments, shards),
    .options = option_list,
    .run = run,
    .doc = "Joins shards and splits them by another layout in one pass, without the whole of it in memory or on the "
           "disk. What 'tokitai glue' compares is compared, and each obstruction is named as there."
           "\vExit status: 0 the shards are written; 1 an obstruction; 2 wrong usage, or a file that cannot be read "
           "or written; 3 undecided.",
};
