/* tokitai bench --from: what --json wrote, read back and shown as the run would have shown it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_gpu.h"
#include "cli/bench_report.h"

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* A time or a size: finite, and not below `least`. */
static bool read_number(const json_t *object, const char *name, double least, double *value)
{
    const json_t *number = json_object_get(object, name);
    *value = json_number_value(number);
    return json_is_number(number) && isfinite(*value) && *value >= least;
}

/* Which of the names it is; false if it is none. */
static bool read_name(const json_t *object, const char *name, const char *const names[], int count, int *which)
{
    for (*which = 0; *which < count; ++*which)
        if (!strcmp(text_of(object, name), names[*which]))
            return true;
    return false;
}

static bool read_arm(const json_t *json, bench_arm *arm)
{
    static const char *const kinds[] = {"lowering", "peer", "limit"};
    double threads;
    double samples;
    int kind;
    const char *name = text_of(json, "name");
    if (!*name || strlen(name) >= sizeof arm->name || !read_name(json, "kind", kinds, 3, &kind) ||
        !read_number(json, "threads", 1, &threads) || threads > 1 << 20)
        return false;
    *arm = (bench_arm){.kind = (bench_kind)kind,
                       .threads = (int)threads,
                       .differs = !json_is_true(json_object_get(json, "same_work")),
                       .separate = !json_is_true(json_object_get(json, "in_turn"))};
    strcpy(arm->name, name);
    const double shortest = 1e-12;
    if (arm->differs)
        return true;
    bool good = read_number(json, "best_seconds", shortest, &arm->best) &&
                read_number(json, "median_seconds", shortest, &arm->median) &&
                read_number(json, "samples", 0, &samples) && samples < 1e15;
    arm->samples = good ? (int64_t)samples : 0;
    return good;
}

static bool read_case(const json_t *json, bench_result *r)
{
    static const char *const dtypes[] = {"f16", "bf16"};
    static const char *const index_dtypes[] = {"i32", "i64"};
    const char *const laws[] = {bench_indices_name(BENCH_UNIFORM), bench_indices_name(BENCH_ZIPF),
                                bench_indices_name(BENCH_EQUAL)};
    const tk_contract *contract = tk_contract_find(text_of(json, "op"));
    const json_t *shape = json_object_get(json, "shape");
    int dtype = 0;
    int index = 0;
    int law = 0;
    bool good = contract && read_name(json, "dtype", dtypes, 2, &dtype) &&
                (!tk_contract_takes_index(contract) || read_name(json, "index_dtype", index_dtypes, 2, &index)) &&
                (!bench_heeds_indices(contract) || read_name(json, "indices", laws, 3, &law));
    if (!good)
        return false;
    r->c = tk_case_init(contract, dtype ? TK_BF16 : TK_F16);
    r->c.index_dtype = index ? TK_I64 : TK_I32;
    r->indices = (bench_indices)law;
    for (int d = 0; d < contract->dim_count && good; d++) {
        r->c.dims[d] = json_integer_value(json_object_get(shape, contract->dim_names[d]));
        good = r->c.dims[d] > 0;
    }
    return good;
}

static bool read_result(const json_t *json, const json_t *machine, bench_result *r)
{
    const json_t *arms = json_object_get(json, "arms");
    const json_t *threads = json_object_get(machine, "threads"); /* a GPU has none */
    *r = (bench_result){.threads = threads ? (int)json_integer_value(threads) : 1,
                        .processor_time = !strcmp(text_of(machine, "time"), "processor"),
                        .by_median = !strcmp(text_of(machine, "ratios_of"), "medians")};
    bool good = read_case(json, r) && read_number(json, "bytes", 0, &r->work_bytes) &&
                read_number(json, "flops", 0, &r->work_flops) && read_number(json, "elements", 1, &r->elements) &&
                read_number(json, "limit_seconds", 0, &r->limit) && json_array_size(arms) > 0 &&
                json_array_size(arms) <= BENCH_ARMS;
    for (size_t i = 0; i < json_array_size(arms) && good; i++)
        good = read_arm(json_array_get(arms, i), &r->arms[r->arm_count++]);
    if (!good || !json_object_get(json, "best_peer"))
        return good;
    const bench_arm *best = bench_find_arm(r, text_of(json, "best_peer"), r->threads);
    if (best) {
        r->best_peer = bench_time(r, best);
        r->best_peer_name = best->name;
    }
    return best != NULL;
}

static void show(const json_t *report, const bench_result *results, int count)
{
    const bool scaling = json_is_true(json_object_get(report, "scaling"));
    cli_bench_print_machine(json_object_get(report, "machine"));
    for (int i = 0; i < count; i++)
        cli_bench_print_result(&results[i], scaling);
    if (json_object_get(report, "cliffs"))
        cli_bench_print_cliffs(results, count);
    else
        cli_bench_print_summary(results, count, scaling);
}

static cli_exit show_results(const char *who, const char *path, const json_t *report, const char *chart)
{
    const json_t *list = json_object_get(report, "results");
    const json_t *machine = json_object_get(report, "machine");
    const int count = (int)json_array_size(list);
    bench_result *results = calloc((size_t)count + 1, sizeof *results);
    bool good = results && json_is_object(machine) && count > 0;
    if (!results)
        cli_complain(who, "no memory for the results");
    else if (!good)
        cli_complain(who, "'%.200s' is not what bench --json writes", path);
    for (int i = 0; i < count && good; i++) {
        good = read_result(json_array_get(list, (size_t)i), machine, &results[i]);
        if (!good)
            cli_complain(who, "'%.200s': results[%d] is not what bench --json writes", path, i);
    }
    if (good)
        show(report, results, count);
    if (good && chart && !bench_chart_write(chart, results, count, json_object_get(report, "cliffs") != NULL)) {
        cli_complain(who, "the chart was not written to '%.200s': %s", chart, strerror(errno));
        good = false;
    }
    free(results);
    return good ? CLI_HOLDS : CLI_BAD;
}

cli_exit cli_bench_show_kept(const char *who, const char *path, const char *chart)
{
    json_error_t error;
    json_t *report = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    cli_exit result = CLI_HOLDS;
    if (!report) {
        cli_complain(who, "cannot read --from '%.200s': %s", path, error.text);
        return CLI_BAD;
    }
    if (!json_object_get(report, "startup")) {
        result = show_results(who, path, report, chart);
    } else if (chart) {
        cli_complain(who, "there is no chart of --startup");
        result = CLI_BAD;
    } else {
        cli_bench_gpu_print_startup(report);
    }
    json_decref(report);
    return result;
}
