/* The results of bench as tables and as JSON. */
#include "cli/bench_report.h"

#include <stdio.h>
#include <string.h>

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

void cli_bench_print_machine(const bench_options *options, const bench_limits *limits)
{
    tk_device device;
    const char *name;
    const char *found;
    bool present;
    if (tk_device_at(0, &device))
        printf("%s, %d thread%s\n", device.name, options->threads, options->threads == 1 ? "" : "s");
    printf("limits   copy %.1f GB/s, non-temporal copy %.1f GB/s (read and written), multiply-add %.0f GFLOP/s\n",
           1e-9 * limits->copy, 1e-9 * limits->stream_copy, 1e-9 * limits->multiply_add);
    for (int i = 0; bench_peer_at(i, &name, &found, &present); i++)
        printf("%s %-9s %s%s\n", i ? "        " : "peers   ", name, present ? "" : "not here: ", found);
}

static void print_arm(const cli_table *table, const bench_result *r, const bench_arm *arm)
{
    char best[32];
    char median[32];
    char per[32];
    char rate[32];
    char share[32] = "";
    char ratio[32] = "";
    format_time(arm->best, best, sizeof best);
    format_time(arm->median, median, sizeof median);
    snprintf(per, sizeof per, "%.3f ns", 1e9 * arm->best / r->elements);
    if (r->work_flops > 0)
        snprintf(rate, sizeof rate, "%.1f GFLOP/s", 1e-9 * r->work_flops / arm->best);
    else
        snprintf(rate, sizeof rate, "%.2f GB/s", 1e-9 * r->work_bytes / arm->best);
    if (arm->kind != BENCH_LIMIT && r->limit > 0)
        snprintf(share, sizeof share, "%.0f%%", 100 * r->limit / arm->best);
    if (arm->kind == BENCH_LOWERING && r->best_peer > 0)
        snprintf(ratio, sizeof ratio, "%.2fx", r->best_peer / arm->best);
    cli_style style = arm->kind == BENCH_LOWERING ? CLI_BOLD : arm->kind == BENCH_LIMIT ? CLI_FAINT : CLI_PLAIN;
    bool slower = r->best_peer > 0 && arm->best > r->best_peer;
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
    int length = snprintf(text, size, "%s %s%s", c->contract->name, tk_dtype_name(c->dtype),
                          tk_contract_takes_index(c->contract) && c->index_dtype == TK_I64 ? " i64" : "");
    for (int d = 0; d < c->contract->dim_count; d++)
        length += snprintf(text + length, size - (size_t)length, "%s%s=%lld", d ? "," : " ",
                           c->contract->dim_names[d], (long long)c->dims[d]);
    if (bench_heeds_indices(c->contract))
        snprintf(text + length, size - (size_t)length, " %s", bench_indices_name(indices));
}

void cli_bench_print_result(const bench_result *r)
{
    char title[256];
    cli_table table = {.count = 7,
                       .columns = {{"ARM", false, 34},
                                   {"BEST", true, 9},
                                   {"MEDIAN", true, 9},
                                   {"PER ELEMENT", true, 0},
                                   {"RATE", true, 15},
                                   {"OF LIMIT", true, 0},
                                   {"TO BEST PEER", true, 0}}};
    cli_bench_format_case(&r->c, r->indices, title, sizeof title);
    cli_heading(title);
    for (int i = 0; i < r->arm_count; i++)
        cli_table_fit(&table, 0, r->arms[i].name);
    cli_table_head(&table);
    for (int i = 0; i < r->arm_count; i++)
        print_arm(&table, r, &r->arms[i]);
    fflush(stdout);
}

static json_t *arm_json(const cli_bench_group *g, const bench_arm *arm)
{
    static const char *const kinds[] = {"lowering", "peer", "limit"};
    json_t *json = json_pack("{s:s, s:s, s:b, s:b}", "name", arm->name, "kind", kinds[arm->kind], "same_work",
                             !arm->differs, "in_turn", !arm->separate);
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
    json_t *shape = json_object();
    json_t *arms = json_array();
    for (int d = 0; d < r->c.contract->dim_count; d++)
        json_object_set_new(shape, r->c.contract->dim_names[d], json_integer(r->c.dims[d]));
    for (int i = 0; i < r->arm_count; i++)
        json_array_append_new(arms, arm_json(g, &r->arms[i]));
    json_t *json = json_pack("{s:s, s:s, s:o, s:f, s:f, s:f, s:f, s:o}", "op", r->c.contract->name, "dtype",
                             tk_dtype_name(r->c.dtype), "shape", shape, "bytes", r->work_bytes, "flops",
                             r->work_flops, "elements", r->elements, "limit_seconds", r->limit, "arms", arms);
    if (tk_contract_takes_index(r->c.contract))
        json_object_set_new(json, "index_dtype", json_string(tk_dtype_name(r->c.index_dtype)));
    if (bench_heeds_indices(r->c.contract))
        json_object_set_new(json, "indices", json_string(bench_indices_name(r->indices)));
    if (r->best_peer > 0)
        json_object_set_new(json, "best_peer", json_string(r->best_peer_name));
    return json;
}

json_t *cli_bench_machine_json(const bench_options *options, const bench_limits *limits)
{
    tk_device device;
    const char *name;
    const char *found;
    bool present;
    json_t *peers = json_object();
    for (int i = 0; bench_peer_at(i, &name, &found, &present); i++)
        json_object_set_new(peers, name, json_pack("{s:b, s:s}", "found", (int)present, "detail", found));
    return json_pack("{s:s, s:s, s:i, s:f, s:f, s:f, s:o}", "device", tk_device_at(0, &device) ? device.name : "",
                     "features", device.detail, "threads", options->threads, "copy_bytes_per_second", limits->copy,
                     "non_temporal_copy_bytes_per_second", limits->stream_copy, "multiply_add_per_second",
                     limits->multiply_add, "peers", peers);
}
