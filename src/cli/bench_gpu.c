/* SHOWS. tokitai bench --backend cuda or hip: the device and its limits, and --startup. */
#include "cli/bench_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_report.h"

json_t *cli_bench_gpu_machine_json(const bench_gpu *gpu, const bench_gpu_limits *limits)
{
    return json_pack("{s:o, s:f, s:f, s:o, s:o, s:s}", "device", cli_json_text(bench_gpu_device(gpu)),
                     "copy_bytes_per_second", limits->copy, "empty_launch_seconds", limits->launch, "peers",
                     cli_json_text(bench_gpu_peers_found(gpu)), "cublaslt",
                     cli_json_text(bench_gpu_cublaslt_found(gpu)), "ratios_of", "medians");
}

/* -- Startup ----------------------------------------------------------------------------------------------------------- */

typedef struct start {
    const tk_contract *contract;
    tk_types types;
    bench_gpu_first_use first_use;
    bench_gpu_overhead overhead;
} start;

static json_t *starts_json(const start *starts, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "op", starts[i].contract->name, "dtype",
                                        cli_name_types(starts[i].types).text, "empty_cache_seconds",
                                        starts[i].first_use.empty_cache, "full_cache_seconds",
                                        starts[i].first_use.full_cache, "small_call_seconds", starts[i].overhead.call,
                                        "bare_launch_seconds", starts[i].overhead.bare));
    return list;
}

/* NULL if something could not be measured. */
static json_t *measure_all(tk_ctx *ctx, const char *device, start *starts, int count)
{
    for (int i = 0; i < count; i++)
        if (!bench_gpu_first_use_measure(ctx, device, starts[i].contract, starts[i].types, &starts[i].first_use))
            return NULL;
    bench_gpu *gpu = bench_gpu_open(ctx, &(bench_options){.peers = "none"});
    bool good = gpu != NULL;
    for (int i = 0; i < count && good; i++)
        good = bench_gpu_overhead_measure(gpu, starts[i].contract, starts[i].types, &starts[i].overhead);
    json_t *report = good ? json_pack("{s:o, s:o}", "device", cli_json_text(bench_gpu_device(gpu)), "startup",
                                      starts_json(starts, count))
                          : NULL;
    bench_gpu_close(gpu);
    return report;
}

void cli_bench_gpu_print_startup(const json_t *report)
{
    cli_table table = cli_table_of("OP=14|TYPE=5|#EMPTY CACHE|#FULL CACHE|#SMALL CALL|#BARE LAUNCH|#OVERHEAD");
    const json_t *starts = json_object_get(report, "startup");
    cli_print(CLI_PLAIN, cli_bench_text(report, "device"));
    putchar('\n');
    cli_table_head(&table);
    for (size_t i = 0; i < json_array_size(starts); i++) {
        const json_t *s = json_array_get(starts, i);
        const double call = cli_bench_number(s, "small_call_seconds");
        const double bare = cli_bench_number(s, "bare_launch_seconds");
        char texts[5][32];
        snprintf(texts[0], sizeof texts[0], "%.0f ms", 1e3 * cli_bench_number(s, "empty_cache_seconds"));
        snprintf(texts[1], sizeof texts[1], "%.1f ms", 1e3 * cli_bench_number(s, "full_cache_seconds"));
        snprintf(texts[2], sizeof texts[2], "%.2f us", 1e6 * call);
        snprintf(texts[3], sizeof texts[3], "%.2f us", 1e6 * bare);
        snprintf(texts[4], sizeof texts[4], "%.2f us", 1e6 * (call - bare));
        cli_table_row(&table, (cli_cell[]){{cli_bench_text(s, "op"), CLI_BOLD},
                                           {cli_bench_text(s, "dtype"), CLI_PLAIN},
                                           {texts[0], CLI_PLAIN},
                                           {texts[1], CLI_PLAIN},
                                           {texts[2], CLI_PLAIN},
                                           {texts[3], CLI_PLAIN},
                                           {texts[4], CLI_PLAIN}});
    }
}

cli_exit cli_bench_gpu_startup(const char *who, tk_ctx *ctx, const char *device, const tk_contract *const ops[],
                               int op_count, const cli_types *types, bool json)
{
    int most = 0, count = 0;
    for (int i = 0; i < op_count; i++)
        most += ops[i]->type_count;
    start *starts = calloc((size_t)most + 1, sizeof *starts);
    for (int i = 0; i < op_count && starts; i++)
        for (int t = 0; t < ops[i]->type_count; t++)
            if (cli_types_have(types, ops[i]->types[t]))
                starts[count++] = (start){.contract = ops[i], .types = ops[i]->types[t]};
    cli_exit result = CLI_HOLDS;
    errno = 0;
    json_t *report = starts ? measure_all(ctx, device, starts, count) : NULL;
    if (!report) {
        const char *message = tk_ctx_message(ctx);
        cli_complain(who, "%s", *message ? message : strerror(errno));
        result = CLI_UNKNOWN;
    } else if (json) {
        result = cli_print_json(json_incref(report));
    } else {
        cli_bench_gpu_print_startup(report);
    }
    json_decref(report);
    free(starts);
    return result;
}
