/* SHOWS. tokitai tune: which choice of a GPU lowering is the fastest for a case on this device, kept in the cache. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/tune.h"
#include "cli/attribute_options.h"
#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "cli/parse.h"

typedef struct arguments {
    cli_words ops;
    const char *who, *backend, *lowering, *dtype, *shape, *shapes;
    double seconds;
    int candidates;
    bool dry_run, json;
    cli_attributes attributes;
} arguments;

static const cli_option option_list[] = {
    CLI_HEADING("What is measured:"),
    CLI_BACKEND("GPU", ": cuda or hip; cuda:1 is the second device. Default: cuda"),
    CLI_LOWERING("", ". Default: every one that has choices"),
    CLI_DTYPE("|all", ". Default: all"),
    CLI_SHAPE(""),
    CLI_ROW(CLI_TEXT, "shapes", "listed|FILE", shapes,
            "listed, the default: shapes that training has; or a file with a shape on each line, where # begins a "
            "comment",
            .excludes = "shape"),
    CLI_HEADING("How:"),
    CLI_SECONDS_EACH(". Default: 1"),
    CLI_ROW(CLI_INT, "candidates", "COUNT", candidates,
            "Maximum number of choices to time, those that the model expects to be the fastest. Default: all",
            .least = 1, .most = BENCH_MOST_CHOICES),
    CLI_ROW(CLI_FLAG, "dry-run", NULL, dry_run, "Keep nothing"),
    CLI_HEADING("Output:"),
    CLI_JSON,
    {.kind = CLI_ATTRIBUTES, .place = offsetof(arguments, attributes)},
    {0},
};

/* ------------------------------------------------------------------------------------------------------------
 * From arguments to jobs. A function that returns false has said why.
 * ------------------------------------------------------------------------------------------------------------ */

enum { MOST_JOBS = 4096, MOST_SHAPES = 512, NAME = 128 };

typedef struct job {
    tk_case c;
    char lowering[NAME];
} job;

typedef struct plan {
    const tk_contract *ops[CLI_MOST_OPS];
    int op_count;
    cli_types types;
    tk_backend_info backend;
    bool listed;
    cli_shape shapes[MOST_SHAPES];
    int shape_count;
    job jobs[MOST_JOBS];
    int job_count;
} plan;

static cli_exit plan_backend(const arguments *a, plan *p, tk_ctx *ctx)
{
    const char *device;
    if (!cli_choose_backend(a->who, a->backend || a->lowering ? a->backend : "cuda", a->lowering, &device,
                            &p->backend))
        return CLI_BAD;
    if (!p->backend.is_gpu) {
        cli_complain(a->who, "--backend must be a GPU; kernels of the CPU have no choices");
        return CLI_BAD;
    }
    return cli_exit_with(a->who, ctx, tk_ctx_use_device(ctx, device));
}

/* A line of a file: a shape, or nothing but a comment. */
static bool add_line(const arguments *a, plan *p, const char *path, int number, char *line)
{
    line[strcspn(line, "#\n")] = 0;
    char *text = line + strspn(line, " \t\r");
    text[strcspn(text, " \t\r")] = 0;
    if (!*text)
        return true;
    cli_error error;
    if (p->shape_count == MOST_SHAPES || !cli_parse_shape(text, &p->shapes[p->shape_count++], &error)) {
        cli_complain(a->who, "%.200s:%d: '%.80s' %s", path, number, text,
                     p->shape_count == MOST_SHAPES ? "is one shape too many" : error.text);
        return false;
    }
    return cli_choose_shape(a->who, text, p->ops, p->op_count, &a->attributes, 1, &p->shapes[p->shape_count - 1]);
}

static bool read_shapes(const arguments *a, plan *p, const char *path)
{
    char line[256];
    FILE *file = fopen(path, "re");
    bool good = file != NULL;
    for (int number = 1; good && fgets(line, sizeof line, file); number++)
        good = add_line(a, p, path, number, line);
    if (!file || (good && ferror(file))) {
        cli_complain(a->who, "cannot read --shapes '%.200s': %s", path, strerror(errno));
        good = false;
    }
    if (file)
        fclose(file);
    if (good && p->shape_count == 0)
        cli_complain(a->who, "--shapes '%.200s' has no shape", path);
    return good && p->shape_count > 0;
}

static bool plan_shapes(const arguments *a, plan *p)
{
    p->listed = !a->shape && (!a->shapes || !strcmp(a->shapes, "listed"));
    if (p->listed)
        return true;
    if (a->shapes)
        return read_shapes(a, p, a->shapes);
    p->shape_count = 1;
    return cli_choose_shape(a->who, a->shape, p->ops, p->op_count, &a->attributes, 1, &p->shapes[0]);
}

static bool shape_at(const plan *p, tk_case *c, int i)
{
    cli_error error;
    return p->listed ? bench_tune_shape_at(c->contract, i, c->dims)
                     : i < p->shape_count && cli_shape_fit(&p->shapes[i], c, &error);
}

static void add_jobs(const arguments *a, plan *p, tk_ctx *ctx, const tk_contract *op, tk_types types)
{
    const char *wanted = a->lowering;
    tk_case c = cli_case_of(op, types, TK_I32);
    cli_settings_apply(a->attributes.given, a->attributes.count, &c);
    for (int s = 0; shape_at(p, &c, s); s++) {
        job *j = &p->jobs[p->job_count];
        for (int l = 0; p->job_count < MOST_JOBS && tk_lowering_id(&c, l, j->lowering, sizeof j->lowering); l++) {
            if ((wanted && strcmp(wanted, j->lowering) != 0) || !bench_has_choices(ctx, &c, j->lowering))
                continue;
            j->c = c;
            j = &p->jobs[++p->job_count];
        }
    }
}

static bool plan_jobs(const arguments *a, plan *p, tk_ctx *ctx)
{
    for (int i = 0; i < a->attributes.count; i++)
        if (!cli_setting_fit(a->who, &a->attributes.given[i], p->ops, p->op_count, a->ops.count > 0))
            return false;
    for (int i = 0; i < p->op_count; i++)
        for (int t = 0; t < p->ops[i]->type_count; t++)
            if (cli_types_have(&p->types, p->ops[i]->types[t]))
                add_jobs(a, p, ctx, p->ops[i], p->ops[i]->types[t]);
    if (p->job_count == 0)
        cli_complain(a->who, "no lowering of these ops and types has choices on this device");
    return p->job_count > 0;
}

/* An op without choices is no part of "all". */
static void drop_ops_without_choices(const arguments *a, plan *p, tk_ctx *ctx)
{
    int kept = 0;
    for (int i = 0; i < p->op_count && a->ops.count == 0; i++) {
        bool has = false;
        for (int t = 0; t < p->ops[i]->type_count && !has; t++) {
            char id[NAME];
            tk_case c = cli_case_of(p->ops[i], p->ops[i]->types[t], TK_I32);
            for (int d = 0; d < p->ops[i]->dim_count; d++)
                c.dims[d] = 64;
            for (int l = 0; tk_lowering_id(&c, l, id, sizeof id) && !has; l++)
                has = bench_has_choices(ctx, &c, id);
        }
        if (has)
            p->ops[kept++] = p->ops[i];
    }
    p->op_count = a->ops.count ? p->op_count : kept;
}

/* ------------------------------------------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------------------------------------------ */

/* What all cases come to. */
typedef struct total {
    int cases, near, wrong; /* near: the model's choice is within BENCH_LEVEL of the best */
    double logarithms, worst;
    char worst_case[2 * NAME];
} total;

static void format_shape(const tk_case *c, char *text, size_t size)
{
    const size_t used = cli_format_shape(c, text, size);
    bench_format_attributes(c, text + used, size - used);
}

static void format_choice(const bench_choice *c, char *text, size_t size)
{
    size_t used = 0;
    for (int n = 0; n < BENCH_CHOICE_NUMBERS && used < size; n++)
        used += (size_t)snprintf(text + used, size - used, "%s%d", n ? " " : "", c->number[n]);
}

static json_t *choice_json(const bench_choice *c)
{
    json_t *numbers = json_array();
    for (int n = 0; n < BENCH_CHOICE_NUMBERS; n++)
        json_array_append_new(numbers, json_integer(c->number[n]));
    return json_pack("{s:o, s:f, s:i, s:b}", "choice", numbers, "median_seconds", c->seconds, "samples", c->samples,
                     "right", !c->is_wrong);
}

static json_t *tuned_json(const bench_tuned *t)
{
    json_t *list = json_array();
    for (int i = 0; i < t->count; i++)
        json_array_append_new(list, choice_json(&t->choices[i]));
    return json_pack("{s:s, s:o, s:i, s:o}", "lowering", t->lowering, "shape", cli_json_shape(&t->c), "best", t->best,
                     "choices", list);
}

static void print_tuned(const cli_table *table, const bench_tuned *t)
{
    char texts[6][NAME];
    const bench_choice *best = &t->choices[t->best], *own = &t->choices[0];
    const double ratio = own->seconds / best->seconds;
    format_shape(&t->c, texts[0], NAME);
    snprintf(texts[1], NAME, "%d", t->count);
    snprintf(texts[2], NAME, "%.2f us", 1e6 * own->seconds);
    snprintf(texts[3], NAME, "%.2f us", 1e6 * best->seconds);
    snprintf(texts[4], NAME, "%.3f", ratio);
    format_choice(best, texts[5], NAME);
    cli_table_row(table, (cli_cell[]){{t->lowering, CLI_BOLD},
                                      {texts[0], CLI_PLAIN},
                                      {texts[1], CLI_PLAIN},
                                      {texts[2], CLI_PLAIN},
                                      {texts[3], CLI_PLAIN},
                                      {texts[4], ratio > BENCH_LEVEL ? CLI_DOUBTFUL : CLI_PLAIN},
                                      {texts[5], CLI_PLAIN}});
    fflush(stdout);
}

static void add_up(total *all, const bench_tuned *t)
{
    const double ratio = t->choices[0].seconds / t->choices[t->best].seconds;
    char shape[NAME];
    all->cases++;
    all->near += ratio <= BENCH_LEVEL;
    all->logarithms += log(ratio);
    if (ratio > all->worst) {
        all->worst = ratio;
        format_shape(&t->c, shape, sizeof shape);
        snprintf(all->worst_case, sizeof all->worst_case, "%s %.100s", t->lowering, shape);
    }
}

static void print_total(const total *all)
{
    if (all->cases == 0)
        return;
    printf("\nthe model's choice is within 3 %% of the best for %d of %d cases; mean %.3f, worst %.3f, ", all->near,
           all->cases, exp(all->logarithms / all->cases), all->worst);
    cli_print(CLI_PLAIN, all->worst_case);
    putchar('\n');
}

static void complain_wrong(const arguments *a, const bench_tuned *t, total *all)
{
    for (int i = 0; i < t->count; i++) {
        char shape[NAME], choice[NAME];
        if (!t->choices[i].is_wrong)
            continue;
        all->wrong++;
        format_shape(&t->c, shape, sizeof shape);
        format_choice(&t->choices[i], choice, sizeof choice);
        cli_complain(a->who, "%s %s: the choice %s gives wrong results and is not kept; this is a bug of tokitai",
                     t->lowering, shape, choice);
    }
}

static cli_exit tune_job(const arguments *a, tk_ctx *ctx, bench_tuner *tuner, const job *j, bench_tuned *tuned,
                         total *all)
{
    if (!bench_tune(tuner, &j->c, j->lowering, a->candidates, a->seconds, tuned)) {
        char shape[NAME];
        format_shape(&j->c, shape, sizeof shape);
        cli_complain(a->who, "%s %s: %s", j->lowering, shape, tk_ctx_message(ctx));
        return CLI_UNKNOWN;
    }
    complain_wrong(a, tuned, all);
    if (tuned->best < 0)
        return CLI_REFUTED;
    add_up(all, tuned);
    if (!a->dry_run && !bench_tune_keep(tuner, tuned)) {
        cli_complain(a->who, "%s", tk_ctx_message(ctx));
        return CLI_BAD;
    }
    return all->wrong ? CLI_REFUTED : CLI_HOLDS;
}

static cli_exit tune_all(const arguments *a, const plan *p, tk_ctx *ctx, bench_tuner *tuner, bench_tuned *tuned)
{
    cli_exit result = CLI_HOLDS;
    total all = {0};
    json_t *list = json_array();
    cli_progress progress = cli_progress_begin(p->job_count);
    cli_table table = cli_table_of("LOWERING=30|SHAPE=18|#CHOICES|#MODEL=10|#BEST=10|#MODEL/BEST|BEST CHOICE=14");
    if (!a->json)
        cli_table_head(&table);
    for (int i = 0; i < p->job_count; i++) {
        progress.job = i;
        cli_progress_update(0, p->jobs[i].lowering, &progress);
        const cli_exit one = tune_job(a, ctx, tuner, &p->jobs[i], tuned, &all);
        cli_progress_clear(&progress);
        result = cli_worse(result, one);
        if (one == CLI_UNKNOWN || tuned->best < 0)
            continue;
        if (a->json)
            json_array_append_new(list, tuned_json(tuned));
        else
            print_tuned(&table, tuned);
    }
    if (!a->json)
        print_total(&all);
    else
        result = cli_worse(result, cli_print_json(json_pack("{s:O, s:i, s:i}", "tuned", list, "cases", all.cases,
                                                            "model_within_3_percent", all.near)));
    json_decref(list);
    return result;
}

static cli_exit measure(const arguments *a, const plan *p, tk_ctx *ctx)
{
    cli_exit result = CLI_UNKNOWN;
    bench_tuner *tuner = bench_tuner_open(ctx);
    bench_tuned *tuned = calloc(1, sizeof *tuned);
    if (!tuner || !tuned)
        cli_complain(a->who, "%s", tuner ? "out of memory" : tk_ctx_message(ctx));
    else
        result = tune_all(a, p, ctx, tuner, tuned);
    free(tuned);
    bench_tuner_close(tuner);
    return result;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {.who = argv[0], .seconds = 1, .candidates = BENCH_MOST_CHOICES};
    cli_parse(&cli_tune, argc, argv, &a);
    static plan all, *const p = &all;
    tk_ctx *ctx = cli_open(a.who);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_show_notes(ctx, a.who);
    p->op_count = cli_choose_ops(a.who, a.ops.list, a.ops.count, p->ops);
    cli_exit result = p->op_count && cli_choose_types(a.who, a.dtype, p->ops, p->op_count, &p->types)
                          ? plan_backend(&a, p, ctx)
                          : CLI_BAD;
    if (result == CLI_HOLDS) {
        drop_ops_without_choices(&a, p, ctx);
        result = plan_shapes(&a, p) && plan_jobs(&a, p, ctx) ? measure(&a, p, ctx) : CLI_BAD;
    }
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_tune = {
    .name = "tune",
    .summary = "measure which choice of a GPU kernel is the fastest for a case, and keep it",
    .arguments = "[OP...]",
    .words = offsetof(arguments, ops),
    .options = option_list,
    .run = run,
    .doc = "Some GPU kernels can compute a case in several ways, with larger or smaller tiles, sums in parts or "
           "whole; a model chooses one from the sizes. This command times the ways on this device, in turn, and "
           "keeps the fastest in the cache directory, for this device and this source of the kernel, from where "
           "every later program takes it. The table shows for each case the number of choices, the median time of "
           "the model's choice and of the best one, their ratio, and the best choice in the kernel's own numbers. "
           "Without OP, every op that has such a choice is tuned."
           "\vA choice is kept only if its result has the bits of the plain kernel's on inputs whose sums are exact "
           "in any order, and the model's own unless another is faster by more than 1 %. On other inputs another "
           "choice may add in another order: bits can change, the error bound does not. 'tokitai cache list' shows "
           "what is kept, 'tokitai cache clear' removes it, and TOKITAI_TUNING=off in the environment ignores it.\n\n"
           "Exit status: 0 everything was measured; 1 a choice gave wrong results; 2 wrong usage, or a file that "
           "cannot be read or written; 3 no device, or something could not be measured.",
};
