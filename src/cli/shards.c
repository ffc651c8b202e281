/* SHOWS. Shared by tokitai glue, shard, reshard and diff-ckpt. */
#include "cli/shards.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/parse.h"

enum { MOST_LINES = 20 };

static void report_shorter_file(int signal_number)
{
    static const char message[] = "tokitai: a file was truncated while it was read\n";
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

/* "PATTERN=VALUE", cut into its two parts; NULL after a complaint. */
static const char *cut(const char *who, const char *option, const char *form, char *text)
{
    char *equals = strrchr(text, '=');
    if (!equals || equals == text) {
        cli_complain(who, "--%s must be %s, not '%.200s'", option, form, text);
        return NULL;
    }
    *equals = 0;
    return equals + 1;
}

cli_rules *cli_rules_of(const char *who, const char *option, const cli_texts *texts)
{
    cli_rules *rules = calloc(1, sizeof *rules);
    if (!rules)
        cli_complain(who, "out of memory");
    for (int i = 0; rules && i < texts->count; i++) {
        tki_rule *rule = &rules->list[rules->count++];
        const char *axis = cut(who, option, "PATTERN=DIM or PATTERN=replicate", texts->list[i]);
        *rule = (tki_rule){.pattern = texts->list[i], .replicated = axis && !strcmp(axis, "replicate")};
        const bool good = axis && (rule->replicated ||
                                   cli_parse_count(axis, -TKI_TENSOR_MAX_RANK, TKI_TENSOR_MAX_RANK - 1, &rule->axis));
        if (axis && !good)
            cli_complain(who, "--%s: the axis must be a number from %d to %d, not '%.80s'", option,
                         -TKI_TENSOR_MAX_RANK, TKI_TENSOR_MAX_RANK - 1, axis);
        if (!good) {
            free(rules);
            return NULL;
        }
    }
    return rules;
}

static bool read_tolerances(const char *who, const cli_texts *texts, tki_tolerance list[CLI_MOST_TEXTS])
{
    for (int i = 0; i < texts->count; i++) {
        const char *ulps = cut(who, "contract", "PATTERN=ULPS", texts->list[i]);
        list[i].pattern = texts->list[i];
        if (!ulps)
            return false;
        if (!cli_parse_unsigned(ulps, &list[i].ulps) || list[i].ulps > INT64_MAX) {
            cli_complain(who, "--contract: ULPS must be a number from 0 to 2^63 - 1, not '%.80s'", ulps);
            return false;
        }
    }
    return true;
}

#define arguments cli_join
const cli_option cli_join_options[] = {
    CLI_ROW(CLI_TEXTS, "contract", "PATTERN=ULPS", contracts,
            "Sections of the tensors whose names match were computed on different devices and may differ by up to "
            "ULPS ulps. The differences are reported. May be repeated"),
    CLI_ROW(CLI_TEXT, "primary", "SHARD", primary,
            "Take the elements of this shard, a path or a file name that only one has, where others differ within a "
            "contract. The verdict is then CHOSEN, not GLUED",
            .with = "contract", .excludes = "accept-majority no-certificate"),
    CLI_ROW(CLI_FLAG, "accept-majority", NULL, accept_majority,
            "Leave out replicas that differ from more than half of at least three replicas of their section. The "
            "verdict is then CHOSEN, and the certificate lists them",
            .excludes = "no-certificate"),
    CLI_SIGN(, .excludes = "no-certificate"),
    CLI_ROW(CLI_FLAG, "no-certificate", NULL, no_certificate, "Write no certificate"),
    CLI_JSON,
    {0},
};
#undef arguments

#define arguments cli_layout
const cli_option cli_layout_options[] = {
    CLI_ROW(CLI_INT, "count", "N", count, "Number of parts", .least = 1, .most = 4096, .required = true),
    CLI_ROW(CLI_INT, "dim", "DIM", dim,
            "Cut tensors along this axis; negative axes count from the end. Tensors without this axis go to every "
            "part. Default: 0",
            .least = -TKI_TENSOR_MAX_RANK, .most = TKI_TENSOR_MAX_RANK - 1),
    CLI_ROW(CLI_TEXTS, "rule", "PATTERN=DIM", rules,
            "Cut the tensors whose names match along this axis; with PATTERN=replicate, give them to every part. The "
            "first rule that matches counts. May be repeated"),
    CLI_ROW(CLI_FLAG, "by-tensor", NULL, by_tensor,
            "Cut no tensor: each goes to one part, and PREFIX.safetensors.index.json names it",
            .excludes = "dim halo"),
    CLI_ROW(CLI_INT64, "halo", "N", halo, "Rows of its neighbours that each part has too", .most = 0x1p40),
    CLI_ROW(CLI_INT, "replicas", "N", replicas, "Copies of each part. Default: 1", .least = 1, .most = 64),
    CLI_ROW(CLI_TEXT, "step", "TEXT", step, "Training step that the shards name"),
    {0},
};
#undef arguments

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
        printf(": %lld of %lld elements, by up to %lld ulp; the contract allows %lld\n",
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

static tk_status join_shards(tk_ctx *ctx, tki_checkpoint *checkpoint, const cli_rules *cuts, const char *out,
                             const tki_glue_options *options, const cli_layout *l, tki_glue_outcome *outcome)
{
    if (!l)
        return tki_glue(ctx, checkpoint, out, options, outcome);
    const tki_layout layout = {.count = l->count,
                               .axis = l->dim,
                               .replicas = l->replicas,
                               .halo = l->halo,
                               .rules = cuts->list,
                               .rule_count = cuts->count,
                               .whole = l->by_tensor,
                               .step = l->step};
    return tki_split(ctx, checkpoint, out, &layout, options, outcome);
}

cli_exit cli_run_join(const char *who, char *const *shards, size_t count, const cli_rules *placements,
                      const cli_join *join, const char *out, const cli_layout *layout)
{
    static const cli_texts none;
    static tki_tolerance tolerances[CLI_MOST_TEXTS];
    cli_rules *cuts = cli_rules_of(who, "rule", layout ? &layout->rules : &none);
    tk_ctx *ctx = cuts && read_tolerances(who, &join->contracts, tolerances) ? cli_open(who) : NULL;
    tk_key *key = NULL;
    if (!ctx || !cli_read_signer(who, ctx, join->sign, &key)) {
        free(cuts);
        tk_ctx_destroy(ctx);
        return CLI_BAD;
    }
    cli_watch_shards();
    tki_checkpoint *checkpoint = NULL;
    tki_glue_outcome outcome = {0};
    cli_progress progress = cli_progress_begin(1);
    const tki_glue_options options = {.tolerances = tolerances,
                                      .tolerance_count = (size_t)join->contracts.count,
                                      .primary = join->primary,
                                      .accept_majority = join->accept_majority,
                                      .skip_certificate = join->no_certificate,
                                      .key = key,
                                      .progress = cli_progress_update,
                                      .progress_data = &progress};
    tk_status status = tki_checkpoint_open(ctx, shards, count, placements->list, placements->count, &checkpoint);
    if (status == TK_OK)
        status = join_shards(ctx, checkpoint, cuts, out, &options, layout, &outcome);
    const double seconds = cli_seconds() - progress.start;
    cli_progress_clear(&progress);
    cli_exit result = status == TK_OK ? tell(join, checkpoint, &outcome, out, seconds)
                                      : cli_exit_with(who, ctx, status);
    free(cuts);
    tki_glue_outcome_free(&outcome);
    tki_checkpoint_close(checkpoint);
    tk_key_destroy(key);
    tk_ctx_destroy(ctx);
    return result;
}
