/* SHOWS. What cli/command_bench.c shows, and how. */
#pragma once

#include <jansson.h>

#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/common_arguments.h"

enum { CLI_BENCH_LOWERINGS = 8 };

/* Lowerings of one op and its types, and what their certificates say. */
typedef struct cli_bench_group {
    const tk_contract *contract;
    tk_types types;
    tk_dtype index_dtype;
    int count;
    char ids[CLI_BENCH_LOWERINGS][128];
    const char *verdicts[CLI_BENCH_LOWERINGS];
} cli_bench_group;

/* A member of a report; "" and 0 if it is not there. */
static inline const char *cli_bench_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static inline double cli_bench_number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

/* "embedding_fwd f16 queries=8192,dim=1024,vocab=32000 zipf" */
void cli_bench_format_case(const tk_case *c, bench_indices indices, char *text, size_t size);

/* A processor or a GPU, as the JSON below and cli/bench_gpu.h's have it. */
void cli_bench_print_machine(const json_t *machine);
void cli_bench_print_result(const bench_result *r, bool scaling);

/* A line for each lowering: means over its cases. */
void cli_bench_print_summary(const bench_result *results, int count, bool scaling);
void cli_bench_print_cliffs(const bench_result *results, int count);
void cli_bench_print_sweep(const bench_result *results, int count, int64_t seed);

json_t *cli_bench_machine_json(const bench_options *options, const bench_limits *limits);
json_t *cli_bench_result_json(const cli_bench_group *g, const bench_result *r);
json_t *cli_bench_summary_json(const bench_result *results, int count);
json_t *cli_bench_cliffs_json(const bench_result *results, int count);

/* What --json wrote to a file, shown as the run itself would have: the table, and a chart if that is not NULL. */
cli_exit cli_bench_show_kept(const char *who, const char *path, const char *chart);
