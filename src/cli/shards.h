/* What the commands for sharded tensors share: rules, options of gluing and of layouts, and how an outcome is told. */
#pragma once

#include "cli/cli.h"
#include "glue/glue.h"

enum { CLI_MAX_RULES = 256 };

typedef struct cli_rules {
    tki_rule list[CLI_MAX_RULES];
    size_t count;
} cli_rules;

/* "PATTERN=DIM" or "PATTERN=replicate"; ends the program with a message if it is anything else. The text is written to and has to stay. */
void cli_add_rule(struct argp_state *state, cli_rules *rules, char *text);

/* A number within these limits; ends the program otherwise. */
int64_t cli_number(const struct argp_state *state, const char *option, const char *text, int64_t least, int64_t most);

/* How sections are compared and what is written about it: for glue and reshard. */
typedef struct cli_join {
    tki_tolerance tolerances[CLI_MAX_RULES];
    tki_glue_options options;
    const char *sign;
    bool json;
    bool only_split; /* one file, so that nothing is joined */
} cli_join;

extern const struct argp cli_join_argp; /* its input is a cli_join */

/* How tensors are split: for shard and reshard. */
typedef struct cli_layout {
    tki_layout layout;
    cli_rules rules;
    bool has_axis;
} cli_layout;

extern const struct argp cli_layout_argp; /* its input is a cli_layout */

/* Runs one of the two with all around it: context, key, progress, outcome. `prefix` is of tki_split(), and its `layout`; NULL: glue. */
cli_exit cli_run_join(const char *who, char *const *shards, size_t count, const cli_rules *placements, cli_join *join,
                      const char *out, cli_layout *layout);

/* A file that is made shorter while it is mapped ends the program by a signal; from now on with a message. */
void cli_watch_shards(void);
