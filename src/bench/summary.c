/* SHOWS. What many results come to: geometric means over the cases of a lowering, and steps between sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

const bench_arm *bench_find_arm(const bench_result *result, const char *name, int threads)
{
    for (int i = 0; i < result->arm_count; i++) {
        const bench_arm *arm = &result->arms[i];
        if (!strcmp(arm->name, name) && arm->threads == threads && !arm->differs)
            return arm;
    }
    return NULL;
}

/* 0 if this result does not have the figure. */
static double figure_of(const bench_result *r, const char *lowering, bench_figure figure, const char *peer)
{
    const bench_arm *ours = bench_find_arm(r, lowering, r->threads);
    const bench_arm *other = NULL;
    if (!ours)
        return 0;
    switch (figure) {
    case BENCH_TO_PEER:
        other = peer ? bench_find_arm(r, peer, r->threads) : NULL;
        return (peer ? (other ? bench_time(r, other) : 0) : r->best_peer) / bench_time(r, ours);
    case BENCH_OF_LIMIT: return r->limit / bench_time(r, ours);
    case BENCH_SPEEDUP:
    case BENCH_SPEEDUP_MEDIAN:
        other = r->threads > 1 ? bench_find_arm(r, lowering, 1) : NULL;
        if (!other)
            return 0;
        return figure == BENCH_SPEEDUP ? other->best / ours->best : other->median / ours->median;
    }
    return 0;
}

bench_mean bench_mean_of(const bench_result *results, int count, const char *lowering, bench_figure figure,
                         const char *peer)
{
    bench_mean mean = {0};
    double logarithms = 0;
    for (int i = 0; i < count; i++) {
        double value = figure_of(&results[i], lowering, figure, peer);
        if (!(value > 0))
            continue;
        logarithms += log(value);
        if (mean.cases++ == 0 || value < mean.least) {
            mean.least = value;
            mean.worst = &results[i];
        }
    }
    if (mean.cases)
        mean.mean = exp(logarithms / mean.cases);
    return mean;
}

static double work_of(const bench_result *r)
{
    return r->work_flops > 0 ? r->work_flops : r->elements;
}

bool bench_step_of(const bench_result *from, const bench_result *to, const char *lowering, bench_step *step)
{
    const bench_arm *before = bench_find_arm(from, lowering, from->threads);
    const bench_arm *after = bench_find_arm(to, lowering, to->threads);
    if (!before || !after || from->indices != to->indices || work_of(from) >= work_of(to))
        return false;
    const double ratio = work_of(from) / work_of(to);
    *step = (bench_step){.growth = bench_time(to, after) / bench_time(from, before) * ratio,
                         .limit_growth = to->limit / from->limit * ratio};
    step->is_cliff = step->growth > BENCH_CLIFF * fmax(step->limit_growth, 1);
    return true;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, compare);
    return samples[count / 2];
}

void bench_arm_settle(bench_arm *arm, double *samples, int count)
{
    arm->samples = count ? count : 1;
    if (!count)
        return;
    arm->median = bench_median(samples, count);
    arm->best = samples[0];
}

int bench_shares_of(const bench_result *results, int count, const char *lowering, const char *peer, double *shares)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        const bench_arm *ours = bench_find_arm(&results[i], lowering, results[i].threads);
        const bench_arm *other = peer ? bench_find_arm(&results[i], peer, results[i].threads) : NULL;
        const double time = peer ? (other ? bench_time(&results[i], other) : 0) : results[i].limit;
        if (ours && time > 0)
            shares[found++] = time / bench_time(&results[i], ours);
    }
    qsort(shares, (size_t)found, sizeof *shares, compare);
    return found;
}
