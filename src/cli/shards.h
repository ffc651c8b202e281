/* SHOWS. What the commands for sharded tensors share: rules, options of gluing and of layouts, and how an outcome is told. */
#pragma once

#include "cli/cli.h"
#include "glue/glue.h"

typedef struct cli_rules {
    tki_rule list[CLI_MOST_TEXTS + 1];
    size_t count;
} cli_rules;

/* Of texts "PATTERN=DIM" or "PATTERN=replicate", which are written to and have to stay; there is place for one more. free() it. NULL after
 * a complaint about --`option`. */
cli_rules *cli_rules_of(const char *who, const char *option, const cli_texts *texts);

/* How sections are compared and what is written about it: for glue and reshard. */
typedef struct cli_join {
    cli_texts contracts;
    const char *primary, *sign;
    bool accept_majority, no_certificate, json;
    bool only_split; /* one file, so that nothing is joined */
} cli_join;

extern const cli_option cli_join_options[];

/* How tensors are split: for shard and reshard. */
typedef struct cli_layout {
    int count, dim, replicas;
    int64_t halo;
    cli_texts rules;
    bool by_tensor;
    const char *step;
} cli_layout;

extern const cli_option cli_layout_options[];

/* Runs one of the two with all around it: context, key, progress, outcome. `prefix` is of tki_split(), and its `layout`; NULL: glue. */
cli_exit cli_run_join(const char *who, char *const *shards, size_t count, const cli_rules *placements,
                      const cli_join *join, const char *out, const cli_layout *layout);

/* A file that is made shorter while it is mapped ends the program by a signal; from now on with a message. */
void cli_watch_shards(void);
