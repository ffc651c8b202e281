/* SHOWS. tokitai corpus: every planted kernel before the judge and before the usual check of kernel benchmarks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command_corpus.h"
#include "cli/common_arguments.h"

typedef struct arguments {
    cli_words ops;
    const char *who, *dtype, *seed, *chart;
    int level, threads;
    bool json, verbose;
} arguments;

static const cli_option option_list[] = {
    CLI_LEVEL("quick|full", "; full includes the mutants that only large shapes expose. Default: quick"),
    CLI_DTYPE("|all", ". Default: all"),
    CLI_SEED(". The usual check draws its inputs from this seed and the next four"),
    CLI_THREADS(65536, "; each judges one kernel at a time. 0, the default, uses all processors"),
    CLI_CHART(": shares of rejected kernels"),
    CLI_JSON,
    CLI_ROW(CLI_FLAG, "verbose", NULL, verbose, "Name the mutants that the usual check accepts", .letter = 'v'),
    {0},
};

/* -- What is asked for ------------------------------------------------------------------------------------- */

typedef struct plan {
    const tk_contract *ops[CLI_MOST_OPS];
    int op_count;
    cli_types types;
    tk_certify_options options;
    int level, threads;
} plan;

static bool plan_make(const arguments *a, plan *p)
{
    *p = (plan){.options = TK_CERTIFY_DEFAULTS, .threads = a->threads};
    p->options.level = (tk_level)a->level;
    p->op_count = cli_choose_ops(a->who, a->ops.list, a->ops.count, p->ops);
    return p->op_count && cli_choose_types(a->who, a->dtype, p->ops, p->op_count, &p->types) &&
           cli_choose_seed(a->who, a->seed, &p->options.seed);
}

/* -- Running ------------------------------------------------------------------------------------------------ */

typedef struct session {
    const arguments *a;
    const plan *p;
    tk_ctx *ctx;
    cli_table table;
    cli_progress progress;
    corpus_bar bars[CLI_MOST_OPS + 1]; /* one for each op, then one for all */
    json_t *list;                      /* with --json */
} session;

static void add_entries(corpus_tally *t, const tk_corpus_entry *entries, int count)
{
    for (int i = 0; i < count; i++) {
        const tk_corpus_entry *e = &entries[i];
        t->wrong += e->wrong;
        t->correct += !e->wrong;
        t->rejected += e->wrong && e->verdict == TK_REFUTED;
        t->held += !e->wrong && e->verdict == TK_HELD;
        t->unknown += e->verdict == TK_UNKNOWN;
        for (int k = 0; k < TK_USUAL_TOLERANCES; k++) {
            t->usual_rejected[k] += e->wrong && !e->usual[k];
            t->usual_alarms[k] += !e->wrong && !e->usual[k];
        }
    }
}

static cli_table make_table(const plan *p)
{
    cli_table table = cli_table_of("OP|DTYPE|#MUTANTS|#TOKITAI|#USUAL 1E-2|#USUAL 1E-3|#VARIANTS|#HELD");
    for (int i = 0; i < p->op_count; i++)
        cli_table_fit(&table, 0, p->ops[i]->name);
    return table;
}

static void print_row(const cli_table *table, const char *op, const char *dtype, const corpus_tally *t)
{
    char text[6][16];
    const int numbers[6] = {t->wrong, t->rejected, t->usual_rejected[0], t->usual_rejected[1], t->correct, t->held};
    for (int i = 0; i < 6; i++)
        snprintf(text[i], sizeof text[i], "%d", numbers[i]);
    cli_table_row(table, (cli_cell[]){{op, CLI_PLAIN},
                                      {dtype, CLI_PLAIN},
                                      {text[0], CLI_PLAIN},
                                      {text[1], t->rejected < t->wrong ? CLI_WRONG : CLI_GOOD},
                                      {text[2], CLI_PLAIN},
                                      {text[3], CLI_PLAIN},
                                      {text[4], CLI_PLAIN},
                                      {text[5], t->held < t->correct ? CLI_WRONG : CLI_GOOD}});
}

/* Is it neither rejected though wrong nor anything but held though correct? */
static bool as_it_should(const tk_corpus_entry *e)
{
    return e->verdict == (e->wrong ? TK_REFUTED : TK_HELD);
}

static void print_names(const tk_corpus_entry *entries, int count, bool verbose)
{
    for (int i = 0; i < count; i++) {
        const tk_corpus_entry *e = &entries[i];
        if (!as_it_should(e)) {
            printf("    %s %s is ", e->wrong ? "mutant" : "variant", e->name);
            cli_print(CLI_WRONG, tk_verdict_name(e->verdict));
            printf(": ");
            cli_wrap(8, 40, e->reason[0] ? e->reason : e->what);
        } else if (verbose && e->wrong && e->usual[0]) {
            printf("    the usual check accepts %s%s: ", e->name, e->usual[1] ? ", with 1e-3 too" : "");
            cli_wrap(8, (int)strlen(e->name) + (e->usual[1] ? 46 : 30), e->what);
        }
    }
}

static json_t *json_entry(const tk_corpus_entry *e)
{
    return json_pack("{s:s, s:s, s:b, s:s, s:o, s:I, s:b, s:b}", "name", e->name, "what", e->what, "wrong", e->wrong,
                     "verdict", tk_verdict_name(e->verdict), "reason", cli_json_text(e->reason), "elements",
                     (json_int_t)e->elements, "passes_1e-2", e->usual[0], "passes_1e-3", e->usual[1]);
}

static json_t *json_group(const session *s, const tk_contract *op, tk_types types, const tk_corpus_entry *entries,
                          int count)
{
    tk_case usual = tk_usual_case(op, types.dtype);
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_entry(&entries[i]));
    return json_pack("{s:s, s:s, s:s, s:I, s:i, s:o, s:o}", "op", op->name, "dtype", cli_name_types(types).text,
                     "level", tk_level_name(s->p->options.level), "seed", (json_int_t)s->p->options.seed,
                     "usual_inputs", TK_USUAL_INPUTS, "usual_shape", cli_json_shape(&usual), "kernels", list);
}

static cli_exit run_one(session *s, int which, tk_types types)
{
    const tk_contract *op = cli_op_in(s->a->who, s->ctx, s->p->ops[which]);
    if (!op)
        return CLI_UNKNOWN;
    tk_certify_options options = s->p->options;
    tk_corpus_entry *entries = NULL;
    int count = 0;
    snprintf(s->progress.label, sizeof s->progress.label, "%s %s ", op->name, cli_name_types(types).text);
    options.result_dtype = &types.result_dtype;
    options.progress = cli_progress_update;
    options.progress_data = &s->progress;
    tk_status status = tk_corpus_run(s->ctx, op, types.dtype, &options, &entries, &count);
    cli_progress_clear(&s->progress);
    if (status != TK_OK)
        return cli_exit_with(s->a->who, s->ctx, status);
    corpus_tally t = {0};
    add_entries(&t, entries, count);
    add_entries(&s->bars[which].tally, entries, count);
    add_entries(&s->bars[s->p->op_count].tally, entries, count);
    if (s->a->json) {
        json_array_append_new(s->list, json_group(s, op, types, entries, count));
    } else {
        print_row(&s->table, op->name, cli_name_types(types).text, &t);
        print_names(entries, count, s->a->verbose);
        fflush(stdout);
    }
    free(entries);
    return t.rejected == t.wrong && t.held == t.correct ? CLI_HOLDS : t.unknown > 0 ? CLI_UNKNOWN : CLI_REFUTED;
}

static double percent(int part, int whole)
{
    return whole > 0 ? 100.0 * part / whole : 0;
}

static void print_closing(const session *s)
{
    const corpus_tally *t = &s->bars[s->p->op_count].tally;
    if (s->progress.jobs > 1)
        print_row(&s->table, "total", "", t);
    printf("\n%d mutants: tokitai rejects %d (%.1f%%), the usual check %d (%.1f%%), with 1e-3 %d (%.1f%%).\n",
           t->wrong, t->rejected, percent(t->rejected, t->wrong), t->usual_rejected[0],
           percent(t->usual_rejected[0], t->wrong), t->usual_rejected[1], percent(t->usual_rejected[1], t->wrong));
    printf("%d variants: %d hold; the usual check rejects %d of them, with 1e-3 %d.\n", t->correct, t->held,
           t->usual_alarms[0], t->usual_alarms[1]);
    printf("Level %s, seed %llu; the usual check draws its %d inputs from that seed and the next ones; %.0f s.\n",
           tk_level_name(s->p->options.level), (unsigned long long)s->p->options.seed, TK_USUAL_INPUTS,
           cli_seconds() - s->progress.start);
}

static cli_exit run_all(const arguments *a, const plan *p, tk_ctx *ctx)
{
    session s = {.a = a, .p = p, .ctx = ctx, .table = make_table(p), .list = a->json ? json_array() : NULL};
    int jobs = 0;
    for (int i = 0; i < p->op_count; i++)
        for (int t = 0; t < p->ops[i]->type_count; t++)
            jobs += cli_types_have(&p->types, p->ops[i]->types[t]);
    cli_exit result = CLI_HOLDS;
    s.progress = cli_progress_begin(jobs);
    if (!a->json)
        cli_table_head(&s.table);
    for (int i = 0; i <= p->op_count; i++)
        s.bars[i].name = i < p->op_count ? p->ops[i]->name : "total";
    for (int i = 0; i < p->op_count; i++)
        for (int t = 0; t < p->ops[i]->type_count; t++) {
            if (!cli_types_have(&p->types, p->ops[i]->types[t]))
                continue;
            result = cli_worse(result, run_one(&s, i, p->ops[i]->types[t]));
            s.progress.job++;
        }
    if (a->json)
        result = cli_worse(result, cli_print_json(s.list));
    else
        print_closing(&s);
    if (a->chart && !corpus_chart_write(a->chart, s.bars, p->op_count > 1 ? p->op_count + 1 : 1)) {
        cli_complain(a->who, "cannot write --chart '%.200s': %s", a->chart, strerror(errno));
        result = CLI_BAD;
    }
    return result;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {.who = argv[0]};
    cli_parse(&cli_corpus, argc, argv, &a);
    plan p;
    if (!plan_make(&a, &p) || !cli_can_write(a.who, "--chart", a.chart))
        return CLI_BAD;
    tk_ctx *ctx = cli_open(a.who);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_exit result = CLI_BAD;
    if (tk_ctx_set_threads(ctx, p.threads) == TK_OK)
        result = run_all(&a, &p, ctx);
    else
        cli_complain(a.who, "%s", tk_ctx_message(ctx));
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_corpus = {
    .name = "corpus",
    .summary = "judge the mutants and variants, and compare with the usual check",
    .arguments = "[OP...]",
    .words = offsetof(arguments, ops),
    .options = option_list,
    .run = run,
    .doc =
        "Judges the mutants of each OP, which must be refuted, and its variants, right kernels that compute in "
        "other ways than ours, which must hold. The same kernels get the check that kernel benchmarks usually make: "
        "five normally distributed inputs at one shape, every output element within atol + rtol |reference| of the "
        "reference, both 1e-2 or both 1e-3. The table has a row for each op and element type. Without OP, every op."
        "\vExit status: 0 every mutant was rejected and every variant held; 1 otherwise; 2 wrong usage; 3 "
        "something could not be decided.",
};
