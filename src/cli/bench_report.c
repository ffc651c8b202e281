/* SHOWS. The results of bench as tables and as JSON, and whether there is a place for their chart. */
#include "cli/bench_report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static void format_time(double seconds, char *text, size_t size)
{
    if (seconds < 1e-3)
        snprintf(text, size, "%.4g us", 1e6 * seconds);
    else if (seconds < 1)
        snprintf(text, size, "%.4g ms", 1e3 * seconds);
    else
        snprintf(text, size, "%.4g s", seconds);
}

/* "1.01x level" */
static void format_ratio(double ratio, char *text, size_t size)
{
    snprintf(text, size, "%.2fx%s", ratio, bench_is_level(ratio) ? " level" : "");
}

static bool is_behind(double ratio)
{
    return ratio < 1 && !bench_is_level(ratio);
}

static void print_line(const char *text)
{
    cli_print(CLI_PLAIN, text);
    putchar('\n');
}

static void print_processor(const json_t *machine)
{
    char line[512];
    const int threads = (int)cli_bench_number(machine, "threads");
    snprintf(line, sizeof line, "%s, %d thread%s%s", cli_bench_text(machine, "device"), threads,
             threads == 1 ? "" : "s",
             strcmp(cli_bench_text(machine, "time"), "processor") != 0 ? "" : ", processor time");
    print_line(line);
    printf("limits   copy %.1f GB/s, non-temporal copy %.1f GB/s (read and written), multiply-add %.0f GFLOP/s\n",
           1e-9 * cli_bench_number(machine, "copy_bytes_per_second"),
           1e-9 * cli_bench_number(machine, "non_temporal_copy_bytes_per_second"),
           1e-9 * cli_bench_number(machine, "multiply_add_per_second"));
    const char *name;
    json_t *peer;
    const char *label = "peers   ";
    json_object_foreach(json_object_get(machine, "peers"), name, peer)
    {
        snprintf(line, sizeof line, "%s %-9s %s%s", label, name,
                 json_is_true(json_object_get(peer, "found")) ? "" : "not found: ", cli_bench_text(peer, "detail"));
        print_line(line);
        label = "        ";
    }
}

static void print_gpu(const json_t *machine)
{
    print_line(cli_bench_text(machine, "device"));
    printf("limits   copy %.0f GB/s (read and written), empty launch %.2f us\n",
           1e-9 * cli_bench_number(machine, "copy_bytes_per_second"),
           1e6 * cli_bench_number(machine, "empty_launch_seconds"));
    const char *label = "peers   ";
    const char *const found[] = {cli_bench_text(machine, "peers"), cli_bench_text(machine, "cublaslt")};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        if (!*found[i])
            continue;
        printf("%s ", label);
        print_line(found[i]);
        label = "        ";
    }
}

void cli_bench_print_machine(const json_t *machine)
{
    if (json_object_get(machine, "empty_launch_seconds"))
        print_gpu(machine);
    else
        print_processor(machine);
}

static void print_arm(const cli_table *table, const bench_result *r, const bench_arm *arm)
{
    char best[32], median[32], per[32], rate[32], share[32] = "", ratio[32] = "";
    format_time(arm->best, best, sizeof best);
    format_time(arm->median, median, sizeof median);
    snprintf(per, sizeof per, "%.3f ns", 1e9 * bench_time(r, arm) / r->elements);
    if (r->work_flops > 0)
        snprintf(rate, sizeof rate, "%.1f GFLOP/s", 1e-9 * r->work_flops / bench_time(r, arm));
    else
        snprintf(rate, sizeof rate, "%.2f GB/s", 1e-9 * r->work_bytes / bench_time(r, arm));
    if (arm->kind != BENCH_LIMIT && r->limit > 0)
        snprintf(share, sizeof share, "%.0f%%", 100 * r->limit / bench_time(r, arm));
    if (arm->kind == BENCH_LOWERING && r->best_peer > 0)
        format_ratio(r->best_peer / bench_time(r, arm), ratio, sizeof ratio);
    cli_style style = arm->kind == BENCH_LOWERING ? CLI_BOLD : arm->kind == BENCH_LIMIT ? CLI_FAINT : CLI_PLAIN;
    bool slower = r->best_peer > 0 && is_behind(r->best_peer / bench_time(r, arm));
    cli_table_row(table, (cli_cell[]){{arm->name, style},
                                      {arm->differs ? "differs" : best, CLI_PLAIN},
                                      {arm->differs ? "-" : median, CLI_PLAIN},
                                      {arm->differs ? "-" : per, CLI_PLAIN},
                                      {arm->differs ? "-" : rate, CLI_PLAIN},
                                      {arm->differs ? "-" : share, CLI_PLAIN},
                                      {ratio, slower ? CLI_DOUBTFUL : CLI_GOOD}});
}

void cli_bench_format_case(const tk_case *c, bench_indices indices, char *text, size_t size)
{
    int length = snprintf(text, size, "%s %s%s", c->contract->name,
                          cli_name_types((tk_types){c->dtype, c->result_dtype}).text,
                          tk_contract_takes_index(c->contract) && c->index_dtype == TK_I64 ? " i64" : "");
    for (int d = 0; d < c->contract->dim_count; d++)
        length += snprintf(text + length, size - (size_t)length, "%s%s=%lld", d ? "," : " ",
                           c->contract->dim_names[d], (long long)c->dims[d]);
    if (bench_heeds_indices(c->contract))
        length += snprintf(text + length, size - (size_t)length, " %s", bench_indices_name(indices));
    bench_format_attributes(c, text + length, size - (size_t)length);
}

static void print_speed(const bench_result *r)
{
    cli_table table = cli_table_of("ARM=34|#BEST=9|#MEDIAN=9|#PER ELEMENT|#RATE=15|#OF LIMIT|#TO BEST PEER");
    for (int i = 0; i < r->arm_count; i++)
        cli_table_fit(&table, 0, r->arms[i].name);
    cli_table_head(&table);
    for (int i = 0; i < r->arm_count; i++)
        print_arm(&table, r, &r->arms[i]);
}

static void print_scaling(const bench_result *r)
{
    char columns[96];
    snprintf(columns, sizeof columns, "ARM=34|#1 THREAD=9|#%d THREADS=9|#SPEEDUP|#OF MEDIANS|#OF LIMIT", r->threads);
    cli_table table = cli_table_of(columns);
    cli_table_head(&table);
    for (int i = 0; i < r->arm_count; i++) {
        const bench_arm *many = &r->arms[i];
        const bench_arm *one = bench_find_arm(r, many->name, 1);
        char times[2][32];
        char speedups[2][32];
        char share[32] = "";
        if (many->threads == 1 || !one)
            continue;
        format_time(one->best, times[0], sizeof times[0]);
        format_time(many->best, times[1], sizeof times[1]);
        snprintf(speedups[0], sizeof speedups[0], "%.2fx", one->best / many->best);
        snprintf(speedups[1], sizeof speedups[1], "%.2fx", one->median / many->median);
        if (many->kind == BENCH_LOWERING)
            snprintf(share, sizeof share, "%.0f%%", 100 * r->limit / many->best);
        cli_table_row(&table, (cli_cell[]){{many->name, many->kind == BENCH_LOWERING ? CLI_BOLD : CLI_FAINT},
                                           {times[0], CLI_PLAIN},
                                           {times[1], CLI_PLAIN},
                                           {speedups[0], CLI_PLAIN},
                                           {speedups[1], CLI_PLAIN},
                                           {share, CLI_PLAIN}});
    }
}

void cli_bench_print_result(const bench_result *r, bool scaling)
{
    char title[256];
    cli_bench_format_case(&r->c, r->indices, title, sizeof title);
    cli_heading(title);
    if (scaling)
        print_scaling(r);
    else
        print_speed(r);
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------------------------------
 * All cases of a lowering together
 * ------------------------------------------------------------------------------------------------------------ */

/* Whether arm `k` of result `i` is the first of its kind and name among all results. */
static bool is_first(const bench_result *results, int i, int k)
{
    const bench_arm *arm = &results[i].arms[k];
    for (int r = 0; r <= i; r++)
        for (int n = 0; n < (r == i ? k : results[r].arm_count); n++)
            if (results[r].arms[n].kind == arm->kind && !strcmp(results[r].arms[n].name, arm->name))
                return false;
    return true;
}

/* The n-th lowering in the order in which they were timed; NULL past the last. */
static const char *lowering_at(const bench_result *results, int count, int n)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < results[i].arm_count; k++)
            if (results[i].arms[k].kind == BENCH_LOWERING && is_first(results, i, k) && n-- == 0)
                return results[i].arms[k].name;
    return NULL;
}

static void format_shape(const bench_result *r, char *text, size_t size)
{
    size_t length = cli_format_shape(&r->c, text, size);
    if (bench_heeds_indices(r->c.contract))
        length += (size_t)snprintf(text + length, size - length, " %s", bench_indices_name(r->indices));
    bench_format_attributes(&r->c, text + length, size - length);
}

static void print_summary_row(const cli_table *table, const char *lowering, const bench_mean means[2], bool scaling)
{
    char cases[16];
    char texts[2][32] = {"-", "-"};
    char least[32] = "-";
    char worst[96] = "";
    snprintf(cases, sizeof cases, "%d", means[0].cases ? means[0].cases : means[1].cases);
    if (means[0].cases) {
        if (scaling) {
            snprintf(texts[0], sizeof texts[0], "%.2fx", means[0].mean);
            snprintf(least, sizeof least, "%.2fx", means[0].least);
        } else {
            format_ratio(means[0].mean, texts[0], sizeof texts[0]);
            format_ratio(means[0].least, least, sizeof least);
        }
        format_shape(means[0].worst, worst, sizeof worst);
    }
    if (means[1].cases && scaling)
        snprintf(texts[1], sizeof texts[1], "%.2fx", means[1].mean);
    else if (means[1].cases)
        snprintf(texts[1], sizeof texts[1], "%.0f%%", 100 * means[1].mean);
    cli_table_row(table, (cli_cell[]){{lowering, CLI_BOLD},
                                      {cases, CLI_PLAIN},
                                      {texts[0], CLI_PLAIN},
                                      {texts[1], CLI_PLAIN},
                                      {least, is_behind(means[0].least) ? CLI_DOUBTFUL : CLI_PLAIN},
                                      {worst, CLI_PLAIN}});
}

void cli_bench_print_summary(const bench_result *results, int count, bool scaling)
{
    cli_table table = cli_table_of(scaling ? "LOWERING=34|#CASES|#SPEEDUP|#OF MEDIANS|#LEAST=11|AT"
                                           : "LOWERING=34|#CASES|#TO BEST PEER|#OF LIMIT|#LEAST=11|AT");
    const char *lowering;
    cli_heading(scaling ? "geometric means: time with one thread by time with all" : "geometric means");
    cli_table_head(&table);
    for (int n = 0; (lowering = lowering_at(results, count, n)); n++) {
        const bench_figure first = scaling ? BENCH_SPEEDUP : BENCH_TO_PEER;
        const bench_figure second = scaling ? BENCH_SPEEDUP_MEDIAN : BENCH_OF_LIMIT;
        print_summary_row(&table, lowering,
                          (bench_mean[]){bench_mean_of(results, count, lowering, first, NULL),
                                         bench_mean_of(results, count, lowering, second, NULL)},
                          scaling);
    }
}

/* The cliff at or after the i-th step, which goes from results[*at] to the next; false if there is none. */
static bool next_cliff(const bench_result *results, int count, const char *lowering, int *at, bench_step *step)
{
    for (; *at + 1 < count; ++*at)
        if (bench_step_of(&results[*at], &results[*at + 1], lowering, step) && step->is_cliff)
            return true;
    return false;
}

void cli_bench_print_cliffs(const bench_result *results, int count)
{
    cli_table table = cli_table_of("LOWERING=34|#FROM=20|#TO=20|#PER ELEMENT|#LIMIT PER ELEMENT");
    char title[160];
    bench_step step;
    const char *lowering;
    int cliffs = 0;
    snprintf(title, sizeof title,
             "cliffs: steps at which the time per element grows over %g times as much as the limit's", BENCH_CLIFF);
    cli_heading(title);
    for (int n = 0; (lowering = lowering_at(results, count, n)); n++) {
        for (int i = 0; next_cliff(results, count, lowering, &i, &step); i++) {
            char shapes[2][96];
            char growths[2][32];
            format_shape(&results[i], shapes[0], sizeof shapes[0]);
            format_shape(&results[i + 1], shapes[1], sizeof shapes[1]);
            snprintf(growths[0], sizeof growths[0], "%.2fx", step.growth);
            snprintf(growths[1], sizeof growths[1], "%.2fx", step.limit_growth);
            if (cliffs++ == 0)
                cli_table_head(&table);
            cli_table_row(&table, (cli_cell[]){{lowering, CLI_BOLD},
                                               {shapes[0], CLI_PLAIN},
                                               {shapes[1], CLI_PLAIN},
                                               {growths[0], CLI_DOUBTFUL},
                                               {growths[1], CLI_PLAIN}});
        }
    }
    if (cliffs == 0)
        printf("none\n");
}

/* One line for a lowering; `peer` NULL: of the limit. */
static void print_shares(const cli_table *table, const bench_result *results, int count, const char *lowering,
                         const char *peer, double *shares)
{
    const int found = bench_shares_of(results, count, lowering, peer, shares);
    char cases[16];
    char figures[3][32];
    if (found == 0)
        return;
    snprintf(cases, sizeof cases, "%d", found);
    const double picked[] = {shares[found / 2], shares[found / 10], shares[0]};
    for (int i = 0; i < 3; i++)
        snprintf(figures[i], sizeof figures[i], "%.1f%%", 100 * picked[i]);
    cli_table_row(table, (cli_cell[]){{lowering, CLI_BOLD},
                                      {peer ? peer : "copy", CLI_PLAIN},
                                      {cases, CLI_PLAIN},
                                      {figures[0], CLI_PLAIN},
                                      {figures[1], CLI_PLAIN},
                                      {figures[2], CLI_PLAIN}});
}

void cli_bench_print_sweep(const bench_result *results, int count, int64_t seed)
{
    static const char *const peers[] = {"pytorch", "torch.compile", "triton"};
    cli_table table = cli_table_of("LOWERING=34|SPEED OF=14|#SHAPES|#MEDIAN|#LOWEST TENTH|#LEAST");
    double *shares = calloc((size_t)count + 1, sizeof *shares);
    const char *lowering;
    char title[96];
    snprintf(title, sizeof title, "drawn shapes, seed %lld: our speed relative to", (long long)seed);
    cli_heading(title);
    cli_table_head(&table);
    for (int n = 0; shares && (lowering = lowering_at(results, count, n)); n++) {
        print_shares(&table, results, count, lowering, NULL, shares);
        for (size_t k = 0; k < sizeof peers / sizeof *peers; k++)
            print_shares(&table, results, count, lowering, peers[k], shares);
    }
    free(shares);
}

/* ------------------------------------------------------------------------------------------------------------
 * JSON
 * ------------------------------------------------------------------------------------------------------------ */

static json_t *arm_json(const cli_bench_group *g, const bench_arm *arm)
{
    static const char *const kinds[] = {"lowering", "peer", "limit"};
    json_t *json = json_pack("{s:s, s:s, s:i, s:b, s:b}", "name", arm->name, "kind", kinds[arm->kind], "threads",
                             arm->threads, "same_work", !arm->differs, "in_turn", !arm->separate);
    if (!arm->differs) {
        json_object_set_new(json, "best_seconds", json_real(arm->best));
        json_object_set_new(json, "median_seconds", json_real(arm->median));
        json_object_set_new(json, "samples", json_integer(arm->samples));
    }
    for (int l = 0; arm->kind == BENCH_LOWERING && l < g->count; l++)
        if (!strcmp(g->ids[l], arm->name))
            json_object_set_new(json, "verdict", json_string(g->verdicts[l]));
    return json;
}

json_t *cli_bench_result_json(const cli_bench_group *g, const bench_result *r)
{
    json_t *arms = json_array();
    for (int i = 0; i < r->arm_count; i++)
        json_array_append_new(arms, arm_json(g, &r->arms[i]));
    json_t *json = json_pack("{s:s, s:s, s:o, s:f, s:f, s:f, s:f, s:o}", "op", r->c.contract->name, "dtype",
                             cli_name_types((tk_types){r->c.dtype, r->c.result_dtype}).text, "shape",
                             cli_json_shape(&r->c), "bytes", r->work_bytes, "flops", r->work_flops, "elements",
                             r->elements, "limit_seconds", r->limit, "arms", arms);
    if (tk_contract_takes_index(r->c.contract))
        json_object_set_new(json, "index_dtype", json_string(tk_dtype_name(r->c.index_dtype)));
    if (bench_heeds_indices(r->c.contract))
        json_object_set_new(json, "indices", json_string(bench_indices_name(r->indices)));
    json_t *attributes = json_object();
    for (int i = 0; i < r->c.contract->attribute_count; i++) {
        char value[64];
        if (!bench_tells_attribute(&r->c, i))
            continue;
        tk_attribute_print(&r->c.contract->attributes[i], r->c.attributes[i], value, sizeof value);
        json_object_set_new(attributes, r->c.contract->attributes[i].name, json_string(value));
    }
    if (json_object_size(attributes))
        json_object_set(json, "attributes", attributes);
    json_decref(attributes);
    if (r->best_peer > 0)
        json_object_set_new(json, "best_peer", json_string(r->best_peer_name));
    return json;
}

json_t *cli_bench_machine_json(const bench_options *options, const bench_limits *limits)
{
    tk_device device = {.name = ""};
    const char *name;
    const char *found;
    bool present;
    json_t *peers = json_object();
    for (int i = 0; bench_peer_at(i, &name, &found, &present); i++)
        json_object_set_new(peers, name,
                            json_pack("{s:b, s:o}", "found", (int)present, "detail", cli_json_text(found)));
    (void)tk_device_at(0, &device); /* without one, its texts stay empty */
    return json_pack("{s:o, s:o, s:i, s:s, s:s, s:f, s:f, s:f, s:o}", "device", cli_json_text(device.name),
                     "features", cli_json_text(device.detail), "threads", options->threads, "time",
                     options->processor_time ? "processor" : "elapsed", "ratios_of",
                     options->processor_time ? "medians" : "best times", "copy_bytes_per_second", limits->copy,
                     "non_temporal_copy_bytes_per_second", limits->stream_copy, "multiply_add_per_second",
                     limits->multiply_add, "peers", peers);
}

static void set_mean(json_t *object, const char *key, bench_mean mean)
{
    if (mean.cases)
        json_object_set_new(
            object, key, json_pack("{s:i, s:f, s:f}", "cases", mean.cases, "mean", mean.mean, "least", mean.least));
}

json_t *cli_bench_summary_json(const bench_result *results, int count)
{
    json_t *list = json_array();
    const char *lowering;
    for (int n = 0; (lowering = lowering_at(results, count, n)); n++) {
        json_t *peers = json_object();
        json_t *entry = json_pack("{s:s, s:o}", "lowering", lowering, "to_peers", peers);
        set_mean(entry, "to_best_peer", bench_mean_of(results, count, lowering, BENCH_TO_PEER, NULL));
        set_mean(entry, "of_limit", bench_mean_of(results, count, lowering, BENCH_OF_LIMIT, NULL));
        set_mean(entry, "speedup", bench_mean_of(results, count, lowering, BENCH_SPEEDUP, NULL));
        set_mean(entry, "speedup_of_medians", bench_mean_of(results, count, lowering, BENCH_SPEEDUP_MEDIAN, NULL));
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < results[i].arm_count; k++) {
                const char *peer = results[i].arms[k].name;
                if (results[i].arms[k].kind == BENCH_PEER && is_first(results, i, k))
                    set_mean(peers, peer, bench_mean_of(results, count, lowering, BENCH_TO_PEER, peer));
            }
        }
        json_array_append_new(list, entry);
    }
    return list;
}

json_t *cli_bench_cliffs_json(const bench_result *results, int count)
{
    json_t *list = json_array();
    bench_step step;
    const char *lowering;
    for (int n = 0; (lowering = lowering_at(results, count, n)); n++)
        for (int i = 0; next_cliff(results, count, lowering, &i, &step); i++)
            json_array_append_new(list,
                                  json_pack("{s:s, s:o, s:o, s:f, s:f}", "lowering", lowering, "from",
                                            cli_json_shape(&results[i].c), "to", cli_json_shape(&results[i + 1].c),
                                            "growth", step.growth, "limit_growth", step.limit_growth));
    return json_pack("{s:f, s:o}", "factor", BENCH_CLIFF, "steps", list);
}
