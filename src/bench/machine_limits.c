/* SHOWS. The machine's limits: an op's least traffic without its arithmetic, with ordinary and with non-temporal stores, and
 * fused multiply-adds on registers. */
#include "bench/machine_limits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/isa/machine.h"
#include "core/clock.h"

double bench_now(bool processor_time)
{
    struct timespec t;
    if (!processor_time || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
        return tki_now();
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_traffic_of(const bench_work *work, bench_traffic *traffic)
{
    const tk_contract *contract = work->c.contract;
    double total = 0;
    *traffic = (bench_traffic){0};
    for (int p = 0; p < contract->param_count; p++) {
        int64_t bytes = work->bytes[p];
        if (contract->params[p].output) {
            traffic->writes[traffic->write_count] = work->buffers[p];
            traffic->write_bytes[traffic->write_count++] = bytes;
        } else {
            /* A gather reads no more of the weight than it writes. */
            if (!strcmp(contract->name, "embedding_fwd") && p == 1 && work->bytes[2] < bytes)
                bytes = work->bytes[2];
            traffic->reads[traffic->read_count] = work->buffers[p];
            traffic->read_bytes[traffic->read_count++] = bytes;
        }
        total += (double)bytes;
    }
    return total;
}

/* The t-th of the threads' parts, cut at cache lines. */
static bench_traffic part_of(const bench_traffic *whole, int t, int threads)
{
    bench_traffic part = *whole;
    for (int k = 0; k < whole->read_count; k++) {
        int64_t begin = whole->read_bytes[k] / threads * t / 64 * 64;
        int64_t end = t + 1 == threads ? whole->read_bytes[k] : whole->read_bytes[k] / threads * (t + 1) / 64 * 64;
        part.reads[k] += begin;
        part.read_bytes[k] = end - begin;
    }
    for (int k = 0; k < whole->write_count; k++) {
        int64_t begin = whole->write_bytes[k] / threads * t / 64 * 64;
        int64_t end = t + 1 == threads ? whole->write_bytes[k] : whole->write_bytes[k] / threads * (t + 1) / 64 * 64;
        part.writes[k] += begin;
        part.write_bytes[k] = end - begin;
    }
    return part;
}

static void move_all(const bench_traffic *traffic, int threads, bool past_caches)
{
    const bench_machine *machine = bench_machine_here();
    if (threads == 1) {
        (void)machine->move(traffic, past_caches);
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        bench_traffic part = part_of(traffic, t, threads);
        (void)machine->move(&part, past_caches);
    }
}

static double multiply_add_all(int64_t rounds, int threads)
{
    const bench_machine *machine = bench_machine_here();
    static volatile float source = 0.25f;
    double operations = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) reduction(+ : operations) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        float sink = source;
        operations += machine->multiply_add(rounds, &sink);
        source = sink;
    }
    return operations;
}

/* -- As arms ------------------------------------------------------------------------------------------------------ */

static bool run_copy(bench_arm *arm)
{
    move_all(arm->state, arm->work->threads, false);
    return true;
}

static bool run_stream(bench_arm *arm)
{
    move_all(arm->state, arm->work->threads, true);
    return true;
}

static int64_t burst_rounds(void)
{
    return (int64_t)(1 << 20) / bench_machine_here()->lanes;
}

static bool run_multiply_add(bench_arm *arm)
{
    (void)multiply_add_all(burst_rounds(), arm->work->threads);
    return true;
}

static void close_arm(bench_arm *arm)
{
    free(arm->state);
}

bool bench_limit_attach(const bench_work *work, int i, double flops, bench_arm *arm)
{
    static const char *const names[] = {"limit: non-temporal copy", "limit: copy", "limit: multiply-add"};
    if (i > 2 || (i == 2 && flops <= 0))
        return false;
    strcpy(arm->name, names[i]);
    if (i == 2) {
        arm->run = run_multiply_add;
        arm->scale = flops / multiply_add_all(burst_rounds(), work->threads);
        return true;
    }
    bench_traffic *traffic = malloc(sizeof *traffic);
    arm->state = traffic;
    arm->close = close_arm;
    arm->run = i == 0 ? run_stream : run_copy;
    if (traffic)
        (void)bench_traffic_of(work, traffic);
    return traffic != NULL;
}

/* -- By themselves ------------------------------------------------------------------------------------------------- */

static double least(double a, double b)
{
    return a < b ? a : b;
}

bool bench_limits_measure(const bench_options *options, double seconds, bench_limits *limits)
{
    enum { BYTES = 128 << 20 };
    const int threads = options->threads;
    const bool processor_time = options->processor_time;
    char *memory[2] = {malloc(BYTES), malloc(BYTES)};
    double copy = 1e30;
    double stream = 1e30;
    double rate = 0;
    bool good = memory[0] && memory[1];
    if (good) {
        memset(memory[0], 1, BYTES);
        memset(memory[1], 2, BYTES);
        bench_traffic traffic = {.reads = {memory[0]},
                                 .read_bytes = {BYTES},
                                 .read_count = 1,
                                 .writes = {memory[1]},
                                 .write_bytes = {BYTES},
                                 .write_count = 1};
        const double end = tki_now() + seconds;
        for (int round = 0; round < 3 || tki_now() < end; round++) {
            double begin = bench_now(processor_time);
            move_all(&traffic, threads, false);
            double middle = bench_now(processor_time);
            copy = least(copy, middle - begin);
            move_all(&traffic, threads, true);
            begin = bench_now(processor_time);
            stream = least(stream, begin - middle);
            for (int i = 0; i < 8; i++) {
                double operations = multiply_add_all(burst_rounds(), threads);
                middle = bench_now(processor_time);
                rate = operations / (middle - begin) > rate ? operations / (middle - begin) : rate;
                begin = middle;
            }
        }
        *limits = (bench_limits){2.0 * BYTES / copy, 2.0 * BYTES / stream, rate};
    }
    free(memory[0]);
    free(memory[1]);
    return good;
}
