/* Shared by tokitai glue, shard, reshard and diff-ckpt. */
#include "cli/shards.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINES = 20 };

static void report_shorter_file(int signal_number)
{
    static const char message[] = "tokitai: a file became shorter while it was read\n";
    (void)signal_number;
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    _exit(CLI_BAD);
}

void cli_watch_shards(void)
{
    struct sigaction action = {.sa_handler = report_shorter_file};
    sigaction(SIGBUS, &action, NULL);
}

/* -- Arguments ----------------------------------------------------------------------------------------------- */

int64_t cli_number(const struct argp_state *state, const char *option, const char *text, int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        argp_error(state, "%s: '%s' is not a number from %lld to %lld", option, text, (long long)least,
                   (long long)most);
    return value;
}

void cli_add_rule(struct argp_state *state, cli_rules *rules, char *text)
{
    char *equals = strrchr(text, '=');
    if (!equals || equals == text)
        argp_error(state, "'%s' is not PATTERN=DIM or PATTERN=replicate", text);
    if (rules->count == CLI_MAX_RULES)
        argp_error(state, "more than %d rules", CLI_MAX_RULES);
    tki_rule *rule = &rules->list[rules->count++];
    *equals = 0;
    *rule = (tki_rule){.pattern = text, .replicated = !strcmp(equals + 1, "replicate")};
    if (!rule->replicated)
        rule->axis = (int)cli_number(state, "the axis of a rule", equals + 1, -TKI_TENSOR_MAX_RANK,
                                     TKI_TENSOR_MAX_RANK - 1);
}

enum {
    KEY_CONTRACT = 300,
    KEY_PRIMARY,
    KEY_MAJORITY,
    KEY_SIGN,
    KEY_NO_CERTIFICATE,
    KEY_JSON,
    KEY_COUNT,
    KEY_DIM,
    KEY_RULE,
    KEY_HALO,
    KEY_REPLICAS,
    KEY_BY_TENSOR,
    KEY_STEP
};

static const struct argp_option join_options[] = {
    {"contract", KEY_CONTRACT, "PATTERN=ULPS", 0,
     "Sections of these tensors were computed on different devices and may differ by so many ulps: the differences "
     "are reported, and --primary says whose elements are taken; may be repeated",
     0},
    {"primary", KEY_PRIMARY, "SHARD", 0, "Take this shard's elements where others differ within a contract", 0},
    {"accept-majority", KEY_MAJORITY, NULL, 0,
     "Of three or more replicas of a section, leave out those that differ from more than half", 0},
    {"sign", KEY_SIGN, "KEY", 0, "Sign the certificate with this key, of 'tokitai keygen'", 0},
    {"no-certificate", KEY_NO_CERTIFICATE, NULL, 0, "Write no certificate", 0},
    {"json", KEY_JSON, NULL, 0, "Print the outcome as JSON", 0},
    {0},
};

static void add_tolerance(struct argp_state *state, cli_join *join, char *text)
{
    char *equals = strrchr(text, '=');
    if (!equals || equals == text)
        argp_error(state, "--contract: '%s' is not PATTERN=ULPS", text);
    if (join->options.tolerance_count == CLI_MAX_RULES)
        argp_error(state, "more than %d contracts", CLI_MAX_RULES);
    *equals = 0;
    join->tolerances[join->options.tolerance_count++] = (tki_tolerance){
        text, (uint64_t)cli_number(state, "--contract", equals + 1, 0, INT64_MAX)};
}

static error_t parse_join(int key, char *argument, struct argp_state *state)
{
    cli_join *join = state->input;
    switch (key) {
    case KEY_CONTRACT: add_tolerance(state, join, argument); return 0;
    case KEY_PRIMARY: join->options.primary = argument; return 0;
    case KEY_MAJORITY: join->options.accept_majority = true; return 0;
    case KEY_SIGN: join->sign = argument; return 0;
    case KEY_NO_CERTIFICATE: join->options.skip_certificate = true; return 0;
    case KEY_JSON: join->json = true; return 0;
    case ARGP_KEY_END:
        if (join->sign && join->options.skip_certificate)
            argp_error(state, "--sign and --no-certificate exclude each other");
        if (join->options.primary && !join->options.tolerance_count)
            argp_error(state, "--primary needs a --contract: without one, only equal bits glue");
        if (join->options.skip_certificate && (join->options.primary || join->options.accept_majority))
            argp_error(state, "%s and --no-certificate exclude each other: a certificate says what was chosen",
                       join->options.primary ? "--primary" : "--accept-majority");
        if (join->options.primary && join->options.accept_majority)
            argp_error(state, "--primary and --accept-majority exclude each other: both say what is taken");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_join_argp = {.options = join_options, .parser = parse_join};

static const struct argp_option layout_options[] = {
    {"count", KEY_COUNT, "N", 0, "Parts to split into", 0},
    {"dim", KEY_DIM, "DIM", 0, "Cut tensors along this axis; from the end, if negative; 0 is the default", 0},
    {"rule", KEY_RULE, "PATTERN=DIM", 0,
     "Cut tensors with such a name along this axis, or, with PATTERN=replicate, give all of them to every part; the "
     "first rule that fits counts; may be repeated",
     0},
    {"by-tensor", KEY_BY_TENSOR, NULL, 0, "Cut no tensor: each goes to one part, and an index names it", 0},
    {"halo", KEY_HALO, "N", 0, "Give each part so many rows of its neighbours too", 0},
    {"replicas", KEY_REPLICAS, "N", 0, "Write each part so many times", 0},
    {"step", KEY_STEP, "TEXT", 0, "Training step that the shards shall name", 0},
    {0},
};

static error_t parse_layout(int key, char *argument, struct argp_state *state)
{
    cli_layout *l = state->input;
    switch (key) {
    case ARGP_KEY_INIT: l->layout.replicas = 1; return 0;
    case KEY_COUNT: l->layout.count = (int)cli_number(state, "--count", argument, 1, 4096); return 0;
    case KEY_DIM:
        l->layout.axis = (int)cli_number(state, "--dim", argument, -TKI_TENSOR_MAX_RANK, TKI_TENSOR_MAX_RANK - 1);
        l->has_axis = true;
        return 0;
    case KEY_RULE: cli_add_rule(state, &l->rules, argument); return 0;
    case KEY_BY_TENSOR: l->layout.whole = true; return 0;
    case KEY_HALO: l->layout.halo = cli_number(state, "--halo", argument, 0, (int64_t)1 << 40); return 0;
    case KEY_REPLICAS: l->layout.replicas = (int)cli_number(state, "--replicas", argument, 1, 64); return 0;
    case KEY_STEP: l->layout.step = argument; return 0;
    case ARGP_KEY_END:
        if (!l->layout.count)
            argp_error(state, "into how many parts? give --count");
        if (l->layout.whole && (l->has_axis || l->layout.halo))
            argp_error(state, "--by-tensor excludes --dim and --halo");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_layout_argp = {.options = layout_options, .parser = parse_layout};

/* -- Outcomes ------------------------------------------------------------------------------------------------ */

static void print_obstructions(const tki_obstructions *all)
{
    char count[32];
    cli_format_count((int64_t)all->count, count, sizeof count);
    cli_print(CLI_WRONG, "OBSTRUCTED");
    printf(": %s obstruction%s; nothing was written\n", count, all->count == 1 ? "" : "s");
    for (size_t i = 0; i < all->kept && i < MOST_LINES; i++) {
        char *text = tki_obstruction_text(&all->list[i]);
        printf("%-18s ", tki_obstruction_name(all->list[i].kind));
        cli_print(CLI_PLAIN, text ? text : "");
        putchar('\n');
        free(text);
    }
    if (all->count > MOST_LINES)
        printf("and %zu more; --json lists up to %d\n", all->count - MOST_LINES, TKI_OBSTRUCTIONS_KEPT);
}

static void print_done(const tki_glue_outcome *o, const char *verdict, const char *out, double seconds)
{
    char bytes[32], compared[32];
    cli_format_bytes(o->bytes_written, bytes, sizeof bytes);
    cli_format_count(o->elements_compared, compared, sizeof compared);
    cli_print(o->verdict == TKI_GLUED ? CLI_GOOD : CLI_DOUBTFUL, verdict);
    fputs(": ", stdout);
    cli_print(CLI_PLAIN, out);
    printf(", %s, %zu tensors of %zu sections in %.1f s\n", bytes, o->tensors, o->sections, seconds);
    printf("    compared   %s elements in %zu replicas and %zu overlaps\n", compared, o->replicas, o->overlaps);
    if (o->certificate) {
        fputs("    certificate ", stdout);
        cli_print(CLI_PLAIN, o->certificate);
        putchar('\n');
    }
}

/* What was taken although others differ. */
static void print_choices(const json_t *report)
{
    const json_t *comparisons = json_object_get(report, "comparisons"),
                 *outvoted = json_object_get(report, "outvoted");
    const json_t *shards = json_object_get(report, "shards");
    for (size_t i = 0; i < json_array_size(comparisons) && i < MOST_LINES; i++) {
        const json_t *c = json_array_get(comparisons, i);
        fputs("    differs    ", stdout);
        cli_print(CLI_PLAIN, json_string_value(json_object_get(c, "tensor")));
        printf(": %lld of %lld elements by up to %lld ulp of the %lld declared\n",
               (long long)json_integer_value(json_object_get(c, "differing")),
               (long long)json_integer_value(json_object_get(c, "of")),
               (long long)json_integer_value(json_object_get(c, "worst_ulps")),
               (long long)json_integer_value(json_object_get(c, "allowed_ulps")));
    }
    for (size_t i = 0; i < json_array_size(outvoted) && i < MOST_LINES; i++) {
        const json_t *v = json_array_get(outvoted, i);
        const json_t *shard = json_array_get(shards, (size_t)json_integer_value(json_object_get(v, "shard")));
        fputs("    outvoted   ", stdout);
        cli_print(CLI_PLAIN, json_string_value(json_object_get(v, "tensor")));
        fputs(" in ", stdout);
        cli_print(CLI_PLAIN, json_string_value(json_object_get(shard, "file")));
        putchar('\n');
    }
}

static cli_exit tell(const cli_join *join, const tki_checkpoint *checkpoint, const tki_glue_outcome *outcome,
                     const char *out, double seconds)
{
    const cli_exit result = outcome->verdict == TKI_OBSTRUCTED ? CLI_REFUTED : CLI_HOLDS;
    if (join->json)
        return cli_worse(result, cli_print_json(json_incref(outcome->report)));
    if (outcome->verdict == TKI_OBSTRUCTED) {
        print_obstructions(tki_checkpoint_obstructions(checkpoint));
    } else {
        print_done(outcome, join->only_split ? "SPLIT" : tki_glue_verdict_name(outcome->verdict), out, seconds);
        print_choices(outcome->report);
    }
    return result;
}

cli_exit cli_run_join(const char *who, char *const *shards, size_t count, const cli_rules *placements, cli_join *join,
                      const char *out, cli_layout *layout)
{
    tk_ctx *ctx = cli_open(who);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_watch_shards();
    tk_key *key = NULL;
    tki_checkpoint *checkpoint = NULL;
    tki_glue_outcome outcome = {0};
    cli_progress progress = cli_progress_begin(1);
    if (!cli_read_signer(who, ctx, join->sign, &key)) {
        tk_key_destroy(key);
        tk_ctx_destroy(ctx);
        return CLI_BAD;
    }
    tk_status status = TK_OK;
    join->options.tolerances = join->tolerances;
    join->options.key = key;
    join->options.progress = cli_progress_update;
    join->options.progress_data = &progress;
    if (status == TK_OK)
        status = tki_checkpoint_open(ctx, shards, count, placements->list, placements->count, &checkpoint);
    if (status == TK_OK && layout) {
        layout->layout.rules = layout->rules.list;
        layout->layout.rule_count = layout->rules.count;
        status = tki_split(ctx, checkpoint, out, &layout->layout, &join->options, &outcome);
    } else if (status == TK_OK) {
        status = tki_glue(ctx, checkpoint, out, &join->options, &outcome);
    }
    const double seconds = cli_seconds() - progress.start;
    cli_progress_clear(&progress);
    cli_exit result = cli_exit_of(status, CLI_BAD);
    if (status != TK_OK)
        cli_complain(who, "%s", tk_ctx_message(ctx));
    else
        result = tell(join, checkpoint, &outcome, out, seconds);
    tki_glue_outcome_free(&outcome);
    tki_checkpoint_close(checkpoint);
    tk_key_destroy(key);
    tk_ctx_destroy(ctx);
    return result;
}
