/* Fuzz target: what bench --json wrote, read back and drawn. Of what is taken every number must be within bounds, and its chart
 * must come to an end. */
#include <assert.h>
#include <stdint.h>

/* The reader and the chart belong to the program, not to a library. */
#include "bench/chart.c"        /* NOLINT(bugprone-suspicious-include) */
#include "bench/roofline.c"     /* NOLINT(bugprone-suspicious-include) */
#include "bench/bench_shapes.c" /* NOLINT(bugprone-suspicious-include) */
#include "bench/summary.c"      /* NOLINT(bugprone-suspicious-include) */
#include "cli/bench_kept.c"     /* NOLINT(bugprone-suspicious-include) */

/* -- In place of the tables: what they would show is checked ------------------------------------------------------------ */

static bool is_time(double seconds)
{
    return seconds >= 1e-12 && seconds <= 1e9;
}

static bool is_count(int threads)
{
    return threads >= 1 && threads <= 1 << 20;
}

void cli_complain(const char *who, const char *format, ...)
{
    (void)who;
    (void)format;
}

bool cli_can_write(const char *who, const char *option, const char *path)
{
    (void)who;
    (void)option;
    return path != NULL;
}

void cli_bench_print_machine(const json_t *machine)
{
    const double threads = json_number_value(json_object_get(machine, "threads"));
    assert(json_object_get(machine, "empty_launch_seconds") || (threads >= 1 && threads <= 1 << 20));
}

void cli_bench_print_result(const bench_result *r, bool scaling)
{
    (void)scaling;
    assert(is_count(r->threads) && (r->limit == 0 || is_time(r->limit)) && r->elements >= 1);
    assert(isfinite(r->work_flops / 1e-12) && isfinite(r->work_bytes / 1e-12) && isfinite(r->elements));
    assert(r->arm_count > 0 && r->arm_count <= BENCH_ARMS);
    for (int d = 0; d < r->c.contract->dim_count; d++)
        assert(r->c.dims[d] > 0);
    for (int i = 0; i < r->arm_count; i++) {
        const bench_arm *arm = &r->arms[i];
        assert(is_count(arm->threads) && arm->name[0] && memchr(arm->name, 0, sizeof arm->name));
        assert(arm->differs || (is_time(arm->best) && is_time(arm->median) && arm->samples >= 0));
    }
}

void cli_bench_print_summary(const bench_result *results, int count, bool scaling)
{
    (void)scaling;
    for (int i = 0; i < count; i++)
        assert(isfinite(bench_mean_of(results, count, results[i].arms[0].name, BENCH_OF_LIMIT, NULL).mean));
}

void cli_bench_print_cliffs(const bench_result *results, int count)
{
    bench_step step;
    for (int i = 0; i + 1 < count; i++)
        if (bench_step_of(&results[i], &results[i + 1], results[i].arms[0].name, &step))
            assert(isfinite(step.growth));
}

void cli_bench_print_sweep(const bench_result *results, int count, int64_t seed)
{
    double shares[64];
    (void)seed;
    if (count == 0 || count > 64)
        return;
    for (int i = bench_shares_of(results, count, results[0].arms[0].name, NULL, shares) - 1; i >= 0; i--)
        assert(isfinite(shares[i]));
}

void cli_bench_gpu_print_startup(const json_t *report)
{
    const json_t *starts = json_object_get(report, "startup");
    assert(json_array_size(starts) > 0);
    for (size_t i = 0; i < json_array_size(starts); i++)
        assert(is_time(json_number_value(json_object_get(json_array_get(starts, i), "small_call_seconds"))));
}

/* -- The target ------------------------------------------------------------------------------------------------------ */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *report = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (report) {
        (void)show_report("fuzz", "a report", report, json_object_get(report, "startup") ? NULL : "/dev/null");
        json_decref(report);
    }
    return 0;
}
