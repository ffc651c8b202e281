/* SHOWS. tokitai bench --from: what --json wrote, read back and shown as the run would have shown it. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/bench_gpu.h"
#include "cli/bench_report.h"

static bool read_number(const json_t *object, const char *name, double least, double most, double *value)
{
    const json_t *number = json_object_get(object, name);
    *value = json_number_value(number);
    return json_is_number(number) && *value >= least && *value <= most;
}

/* Bytes, operations, or either per second: more than any machine does, and little enough that every rate is finite. */
static const double most_work = 1e30;

static bool read_seconds(const json_t *object, const char *name, double *seconds)
{
    return read_number(object, name, 1e-12, 1e9, seconds);
}

static bool read_threads(const json_t *object, int *threads)
{
    double number;
    const bool good = read_number(object, "threads", 1, 1 << 20, &number) && number == floor(number);
    *threads = good ? (int)number : 0;
    return good;
}

/* Which of the names it is; false if it is none. */
static bool read_name(const json_t *object, const char *name, const char *const names[], int count, int *which)
{
    for (*which = 0; *which < count; ++*which)
        if (!strcmp(cli_bench_text(object, name), names[*which]))
            return true;
    return false;
}

static bool read_arm(const json_t *json, bench_arm *arm)
{
    static const char *const kinds[] = {"lowering", "peer", "limit"};
    double samples;
    int threads;
    int kind;
    const char *name = cli_bench_text(json, "name");
    if (!*name || strlen(name) >= sizeof arm->name || !read_name(json, "kind", kinds, 3, &kind) ||
        !read_threads(json, &threads))
        return false;
    *arm = (bench_arm){.kind = (bench_kind)kind,
                       .threads = threads,
                       .differs = !json_is_true(json_object_get(json, "same_work")),
                       .separate = !json_is_true(json_object_get(json, "in_turn"))};
    strcpy(arm->name, name);
    if (arm->differs)
        return true;
    bool good = read_seconds(json, "best_seconds", &arm->best) &&
                read_seconds(json, "median_seconds", &arm->median) && read_number(json, "samples", 0, 1e15, &samples);
    arm->samples = good ? (int64_t)samples : 0;
    return good;
}

/* Types that the op takes. */
static bool read_types(const json_t *json, const tk_contract *contract, tk_types *types)
{
    if (!tk_types_parse(cli_bench_text(json, "dtype"), types))
        return false;
    const cli_types read = {.one = true, .types = *types};
    for (int i = 0; i < contract->type_count; i++)
        if (cli_types_have(&read, contract->types[i]))
            return true;
    return false;
}

/* Values of attributes that the op has; the others stay as usual. */
static bool read_attributes(const json_t *json, tk_case *c)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(json, "attributes"), name, value)
    {
        const int at = tk_attribute_find(c->contract, name);
        const char *text = json_string_value(value);
        if (at < 0 || !text || !tk_attribute_parse(&c->contract->attributes[at], text, &c->attributes[at]))
            return false;
    }
    return true;
}

static bool read_case(const json_t *json, bench_result *r)
{
    static const char *const index_dtypes[] = {"i32", "i64"};
    const char *const laws[] = {bench_indices_name(BENCH_UNIFORM), bench_indices_name(BENCH_ZIPF),
                                bench_indices_name(BENCH_EQUAL)};
    const tk_contract *contract = tk_contract_find(cli_bench_text(json, "op"));
    const json_t *shape = json_object_get(json, "shape");
    tk_types types;
    int index = 0;
    int law = 0;
    bool good = contract && read_types(json, contract, &types) &&
                (!tk_contract_takes_index(contract) || read_name(json, "index_dtype", index_dtypes, 2, &index)) &&
                (!bench_heeds_indices(contract) || read_name(json, "indices", laws, 3, &law));
    if (!good)
        return false;
    r->c = cli_case_of(contract, types, index ? TK_I64 : TK_I32);
    r->indices = (bench_indices)law;
    good = read_attributes(json, &r->c);
    for (int d = 0; d < contract->dim_count && good; d++) {
        r->c.dims[d] = json_integer_value(json_object_get(shape, contract->dim_names[d]));
        good = r->c.dims[d] > 0;
    }
    return good;
}

/* What all results of a machine have in common. */
static bool read_machine(const json_t *machine, bench_result *common)
{
    static const char *const figures[] = {"copy_bytes_per_second", "non_temporal_copy_bytes_per_second",
                                          "multiply_add_per_second", "empty_launch_seconds"};
    double figure;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (json_object_get(machine, figures[i]) && !read_number(machine, figures[i], 0, most_work, &figure))
            return false;
    *common = (bench_result){.threads = 1,
                             .processor_time = !strcmp(cli_bench_text(machine, "time"), "processor"),
                             .by_median = !strcmp(cli_bench_text(machine, "ratios_of"), "medians")};
    const bool gpu = json_object_get(machine, "empty_launch_seconds") != NULL; /* and has no threads */
    return json_is_string(json_object_get(machine, "device")) && (gpu || read_threads(machine, &common->threads));
}

static bool read_result(const json_t *json, const bench_result *common, bench_result *r)
{
    const json_t *arms = json_object_get(json, "arms");
    *r = *common;
    bool good = read_case(json, r) && read_number(json, "bytes", 0, most_work, &r->work_bytes) &&
                read_number(json, "flops", 0, most_work, &r->work_flops) &&
                read_number(json, "elements", 1, most_work, &r->elements) &&
                (read_number(json, "limit_seconds", 0, 0, &r->limit) ||
                 read_seconds(json, "limit_seconds", &r->limit)) &&
                json_array_size(arms) > 0 && json_array_size(arms) <= BENCH_ARMS;
    for (size_t i = 0; i < json_array_size(arms) && good; i++)
        good = read_arm(json_array_get(arms, i), &r->arms[r->arm_count++]);
    if (!good || !json_object_get(json, "best_peer"))
        return good;
    const bench_arm *best = bench_find_arm(r, cli_bench_text(json, "best_peer"), r->threads);
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
    else if (json_object_get(report, "sweep_seed"))
        cli_bench_print_sweep(results, count, json_integer_value(json_object_get(report, "sweep_seed")));
    else
        cli_bench_print_summary(results, count, scaling);
}

/* Under one name or two. */
static bool same_file(const char *a, const char *b)
{
    struct stat states[2];
    return !strcmp(a, b) || (stat(a, &states[0]) == 0 && stat(b, &states[1]) == 0 &&
                             states[0].st_dev == states[1].st_dev && states[0].st_ino == states[1].st_ino);
}

/* Whether the chart has a place that is not the report's own. */
static bool chart_has_place(const char *who, const char *path, const char *chart)
{
    if (chart && same_file(path, chart)) {
        cli_complain(who, "--chart and --from must be different files, not both '%.200s'", chart);
        return false;
    }
    return cli_can_write(who, "--chart", chart);
}

static cli_exit show_results(const char *who, const char *path, const json_t *report, const char *chart)
{
    const json_t *list = json_object_get(report, "results");
    const json_t *machine = json_object_get(report, "machine");
    const int count = (int)json_array_size(list);
    bench_result *results = calloc((size_t)count + 1, sizeof *results);
    bench_result common;
    bool good = results && read_machine(machine, &common) && count > 0;
    if (!results)
        cli_complain(who, "out of memory");
    else if (!good)
        cli_complain(who, "'%.200s' is not output of 'tokitai bench --json'", path);
    for (int i = 0; i < count && good; i++) {
        good = read_result(json_array_get(list, (size_t)i), &common, &results[i]);
        if (!good)
            cli_complain(who, "'%.200s': results[%d] is not output of 'tokitai bench --json'", path, i);
    }
    good = good && chart_has_place(who, path, chart);
    if (good)
        show(report, results, count);
    const bench_chart kind = json_object_get(report, "cliffs")       ? BENCH_CURVES
                             : json_object_get(report, "sweep_seed") ? BENCH_MAP
                                                                     : BENCH_BARS;
    if (good && chart && !bench_chart_write(chart, results, count, kind)) {
        cli_complain(who, "cannot write --chart '%.200s': %s", chart, strerror(errno));
        good = false;
    }
    free(results);
    return good ? CLI_HOLDS : CLI_BAD;
}

static bool check_start(const json_t *json)
{
    static const char *const times[] = {"empty_cache_seconds", "full_cache_seconds", "small_call_seconds",
                                        "bare_launch_seconds"};
    tk_types types;
    double seconds;
    const tk_contract *contract = tk_contract_find(cli_bench_text(json, "op"));
    bool good = contract && read_types(json, contract, &types);
    for (size_t i = 0; i < sizeof times / sizeof *times && good; i++)
        good = read_seconds(json, times[i], &seconds);
    return good;
}

static cli_exit show_startup(const char *who, const char *path, const json_t *report)
{
    const json_t *starts = json_object_get(report, "startup");
    if (!json_is_string(json_object_get(report, "device")) || json_array_size(starts) == 0) {
        cli_complain(who, "'%.200s' is not output of 'tokitai bench --json'", path);
        return CLI_BAD;
    }
    for (size_t i = 0; i < json_array_size(starts); i++) {
        if (!check_start(json_array_get(starts, i))) {
            cli_complain(who, "'%.200s': startup[%zu] is not output of 'tokitai bench --json'", path, i);
            return CLI_BAD;
        }
    }
    cli_bench_gpu_print_startup(report);
    return CLI_HOLDS;
}

static cli_exit show_report(const char *who, const char *path, const json_t *report, const char *chart)
{
    if (!json_object_get(report, "startup"))
        return show_results(who, path, report, chart);
    if (!chart)
        return show_startup(who, path, report);
    cli_complain(who, "--chart excludes results of --startup");
    return CLI_BAD;
}

/* A pipe that nobody writes to would keep us waiting, and a giant would fill the memory. NULL, and *problem, if it cannot be read. */
static json_t *load(const char *path, json_error_t *error, const char **problem)
{
    enum { MOST_BYTES = 64 << 20 };
    struct stat about;
    json_t *report = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &about))
        *problem = strerror(errno);
    else if (!S_ISREG(about.st_mode))
        *problem = "not a regular file";
    else if (about.st_size > MOST_BYTES)
        *problem = "too large";
    else {
        report = json_loadfd(file, JSON_REJECT_DUPLICATES, error);
        *problem = error->text;
    }
    if (file >= 0)
        close(file);
    return report;
}

cli_exit cli_bench_show_kept(const char *who, const char *path, const char *chart)
{
    json_error_t error;
    const char *problem;
    json_t *report = load(path, &error, &problem);
    if (!report) {
        cli_complain(who, "cannot read --from '%.200s': %s", path, problem);
        return CLI_BAD;
    }
    const cli_exit result = show_report(who, path, report, chart);
    json_decref(report);
    return result;
}
