/* tokitai bench --backend cuda or hip: the device and its limits, and --startup. */
#include "cli/bench_gpu.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_bench_gpu_print_machine(const bench_gpu *gpu, const bench_gpu_limits *limits)
{
    printf("%s\n", bench_gpu_device(gpu));
    printf("limits   copy %.0f GB/s (read and written), empty launch %.2f us\n", 1e-9 * limits->copy,
           1e6 * limits->launch);
    printf("peers    %s\n", bench_gpu_peers_found(gpu));
}

json_t *cli_bench_gpu_machine_json(const bench_gpu *gpu, const bench_gpu_limits *limits)
{
    return json_pack("{s:s, s:f, s:f, s:s, s:s}", "device", bench_gpu_device(gpu), "copy_bytes_per_second",
                     limits->copy, "empty_launch_seconds", limits->launch, "peers", bench_gpu_peers_found(gpu),
                     "ratios_of", "medians");
}

/* -- A cache of its own for each measurement ------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

/* A folder that is the cache until it is removed. */
typedef struct empty_cache {
    char path[64];
    char *before; /* what the variable said, or NULL */
} empty_cache;

static bool empty_cache_make(empty_cache *cache)
{
    const char *before = getenv("TOKITAI_CACHE");
    strcpy(cache->path, "/tmp/tokitai-startup-XXXXXX");
    cache->before = before ? strdup(before) : NULL;
    return (cache->before || !before) && mkdtemp(cache->path) && setenv("TOKITAI_CACHE", cache->path, 1) == 0;
}

static void empty_cache_remove(empty_cache *cache)
{
    (void)nftw(cache->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    if (cache->before)
        (void)setenv("TOKITAI_CACHE", cache->before, 1);
    else
        unsetenv("TOKITAI_CACHE");
    free(cache->before);
}

/* -- Startup ----------------------------------------------------------------------------------------------------------- */

typedef struct start {
    const tk_contract *contract;
    tk_dtype dtype;
    bench_gpu_first_use first_use;
    bench_gpu_overhead overhead;
} start;

static bool measure_first_use(tk_ctx *ctx, const char *device, start *s)
{
    empty_cache cache;
    if (!empty_cache_make(&cache))
        return false;
    bool good = bench_gpu_first_use_measure(ctx, device, s->contract, s->dtype, &s->first_use);
    empty_cache_remove(&cache);
    return good;
}

static bool measure_all(tk_ctx *ctx, const char *device, start *starts, int count)
{
    for (int i = 0; i < count; i++)
        if (!measure_first_use(ctx, device, &starts[i]))
            return false;
    bench_gpu *gpu = bench_gpu_open(ctx, &(bench_options){.peers = "none"});
    bool good = gpu != NULL;
    for (int i = 0; i < count && good; i++)
        good = bench_gpu_overhead_measure(gpu, starts[i].contract, starts[i].dtype, &starts[i].overhead);
    bench_gpu_close(gpu);
    return good;
}

static void print_starts(const start *starts, int count)
{
    cli_table table = {.count = 7,
                       .columns = {{"OP", false, 14},
                                   {"TYPE", false, 5},
                                   {"EMPTY CACHE", true, 0},
                                   {"FULL CACHE", true, 0},
                                   {"SMALL CALL", true, 0},
                                   {"BARE LAUNCH", true, 0},
                                   {"OVERHEAD", true, 0}}};
    cli_table_head(&table);
    for (int i = 0; i < count; i++) {
        const start *s = &starts[i];
        char texts[5][32];
        snprintf(texts[0], sizeof texts[0], "%.0f ms", 1e3 * s->first_use.empty_cache);
        snprintf(texts[1], sizeof texts[1], "%.1f ms", 1e3 * s->first_use.full_cache);
        snprintf(texts[2], sizeof texts[2], "%.2f us", 1e6 * s->overhead.call);
        snprintf(texts[3], sizeof texts[3], "%.2f us", 1e6 * s->overhead.bare);
        snprintf(texts[4], sizeof texts[4], "%.2f us", 1e6 * (s->overhead.call - s->overhead.bare));
        cli_table_row(&table, (cli_cell[]){{s->contract->name, CLI_BOLD},
                                           {tk_dtype_name(s->dtype), CLI_PLAIN},
                                           {texts[0], CLI_PLAIN},
                                           {texts[1], CLI_PLAIN},
                                           {texts[2], CLI_PLAIN},
                                           {texts[3], CLI_PLAIN},
                                           {texts[4], CLI_PLAIN}});
    }
}

static json_t *starts_json(const start *starts, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "op", starts[i].contract->name, "dtype",
                            tk_dtype_name(starts[i].dtype), "empty_cache_seconds", starts[i].first_use.empty_cache,
                            "full_cache_seconds", starts[i].first_use.full_cache, "small_call_seconds",
                            starts[i].overhead.call, "bare_launch_seconds", starts[i].overhead.bare));
    return json_pack("{s:o}", "startup", list);
}

cli_exit cli_bench_gpu_startup(const char *who, tk_ctx *ctx, const char *device, const tk_contract *const ops[],
                               int op_count, unsigned dtypes, bool json)
{
    start *starts = calloc((size_t)op_count * 2 + 1, sizeof *starts);
    int count = 0;
    for (int i = 0; i < op_count && starts; i++)
        for (tk_dtype dtype = TK_F16; dtype <= TK_BF16; dtype++)
            if (dtypes & 1u << dtype)
                starts[count++] = (start){.contract = ops[i], .dtype = dtype};
    cli_exit result = CLI_HOLDS;
    errno = 0;
    if (!starts || !measure_all(ctx, device, starts, count)) {
        const char *message = tk_ctx_message(ctx);
        cli_complain(who, "%s", *message ? message : strerror(errno));
        result = CLI_UNKNOWN;
    } else if (json) {
        result = cli_print_json(starts_json(starts, count));
    } else {
        print_starts(starts, count);
    }
    free(starts);
    return result;
}
