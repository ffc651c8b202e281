/* SHOWS. Choices of a lowering, in three stages: all of them once, a part of them some times, the last few until the time is used up. */
#include "bench/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu_clock.h"
#include "bench/gpu_copies.h"
#include "bench/gpu_timing.h"
#include "bench/peers.h"
#include "core/clock.h"
#include "core/context.h"
#include "runtime/gpu.h"
#include "runtime/lowering_choice.h"
#include "runtime/planner.h"

_Static_assert((int)BENCH_CHOICE_NUMBERS == (int)TKI_CHOICE_NUMBERS &&
                   (int)BENCH_MOST_CHOICES == (int)TKI_MOST_CANDIDATES,
               "choices as lowerings have them");

enum { MOST_SAMPLES = 200, FINALISTS = 6 };

struct bench_tuner {
    tk_ctx *ctx;
    bench_clock clock;
    double samples[BENCH_MOST_CHOICES][MOST_SAMPLES];
};

bench_tuner *bench_tuner_open(tk_ctx *ctx)
{
    bench_tuner *t = calloc(1, sizeof *t);
    if (!t) {
        (void)tki_fail(ctx, TK_NO_MEMORY, "no memory to measure with");
        return NULL;
    }
    t->ctx = ctx;
    if (bench_clock_open(ctx, &t->clock) != TK_OK) {
        bench_tuner_close(t);
        return NULL;
    }
    return t;
}

void bench_tuner_close(bench_tuner *t)
{
    if (t)
        bench_clock_close(&t->clock);
    free(t);
}

static const tki_lowering *find_lowering(tk_ctx *ctx, const tk_case *c, const char *id)
{
    tki_plan plan;
    tki_plan_case(ctx, c, NULL, id, &plan);
    if (!plan.lowering)
        (void)tki_fail(ctx, TK_UNSUPPORTED, "%s: %s", id, plan.refusals);
    return plan.lowering;
}

bool bench_has_choices(tk_ctx *ctx, const tk_case *c, const char *id)
{
    tki_plan plan;
    tki_plan_case(ctx, c, NULL, id, &plan);
    return plan.lowering && plan.lowering->candidates;
}

/* ------------------------------------------------------------------------------------------------------------
 * Timing
 * ------------------------------------------------------------------------------------------------------------ */

/* One case and one way of doing it. */
typedef struct way {
    bench_tuner *t;
    bench_copies *s;
    tki_runner runner;
    tki_choice choice;
} way;

static tki_choice choice_of(const bench_choice *c)
{
    tki_choice choice;
    memcpy(choice.number, c->number, sizeof choice.number);
    return choice;
}

static tk_status queue_call(void *data)
{
    way *w = data;
    bench_copies_next(w->s);
    tki_chosen_set(w->t->ctx, w->runner.executable.lowering, &w->s->work.c, w->choice);
    return tki_runner_call(&w->runner, &w->s->work.c, w->s->work.buffers, 0, NULL);
}

static tk_status take_sample(way *w, bench_choice *c, double *samples)
{
    double once = c->seconds;
    tk_status status = TK_OK;
    w->choice = choice_of(c);
    if (c->samples == 0) /* it may have a kernel to load */
        status = bench_clock_sample(&w->t->clock, 1, queue_call, w, &once);
    if (status == TK_OK)
        status = bench_clock_sample(&w->t->clock, bench_calls_of_a_sample(once), queue_call, w, &once);
    if (status != TK_OK || c->samples == MOST_SAMPLES)
        return status;
    samples[c->samples++] = once;
    c->seconds = bench_median(samples, c->samples);
    return status;
}

/* The candidates that are still in the race, as indices. */
typedef struct race {
    int at[BENCH_MOST_CHOICES];
    int count;
} race;

static tk_status run_round(way *w, const race *r, bench_tuned *tuned)
{
    tk_status status = TK_OK;
    for (int i = 0; i < r->count && status == TK_OK; i++)
        status = take_sample(w, &tuned->choices[r->at[i]], w->t->samples[r->at[i]]);
    return status;
}

/* The fastest ones stay, and the model's own, which is the first. */
static void leave(race *r, const bench_tuned *tuned, int most)
{
    for (int i = 1; i < r->count; i++) {
        const int moved = r->at[i];
        int k = i;
        for (; k > 0 && tuned->choices[r->at[k - 1]].seconds > tuned->choices[moved].seconds; k--)
            r->at[k] = r->at[k - 1];
        r->at[k] = moved;
    }
    bool has_own = false;
    for (int i = 0; i < r->count && i < most; i++)
        has_own |= r->at[i] == 0;
    if (r->count > most)
        r->count = most;
    if (!has_own && r->count < BENCH_MOST_CHOICES)
        r->at[r->count++] = 0;
}

static void forget_samples(const race *r, bench_tuned *tuned)
{
    for (int i = 0; i < r->count; i++)
        tuned->choices[r->at[i]].samples = 0;
}

static tk_status run_race(way *w, double seconds, bench_tuned *tuned, race *r)
{
    enum { ROUNDS = 4, LEAST_ROUNDS = 9 };
    for (r->count = 0; r->count < tuned->count; r->count++)
        r->at[r->count] = r->count;
    const double begin = tki_now();
    tk_status status = run_round(w, r, tuned);
    leave(r, tuned, tuned->count / 4 > 2 * FINALISTS ? tuned->count / 4 : 2 * FINALISTS);
    for (int i = 0; i < ROUNDS && status == TK_OK; i++)
        status = run_round(w, r, tuned);
    leave(r, tuned, FINALISTS);
    /* The device's clock follows what it has been given to do: only what was timed side by side is compared. */
    forget_samples(r, tuned);
    for (int i = 0; i < MOST_SAMPLES && status == TK_OK && (i < LEAST_ROUNDS || tki_now() < begin + seconds); i++)
        status = run_round(w, r, tuned);
    leave(r, tuned, FINALISTS + 1);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 * Is it right?
 * ------------------------------------------------------------------------------------------------------------ */

static size_t output_bytes(const bench_work *work)
{
    size_t bytes = 0;
    for (int p = 0; p < work->c.contract->param_count; p++)
        bytes += work->c.contract->params[p].output ? (size_t)work->bytes[p] : 0;
    return bytes;
}

/* Runs on poisoned outputs and reads them. */
static tk_status compute(tk_ctx *ctx, const tki_lowering *lowering, const bench_work *work, char *outputs)
{
    tki_runner runner;
    tk_status status = TK_OK;
    for (int p = 0; p < work->c.contract->param_count && status == TK_OK; p++)
        if (work->c.contract->params[p].output)
            status = tki_gpu_fill(ctx, ctx->gpu, ctx->stream, work->buffers[p], 0xff, (size_t)work->bytes[p]);
    if (status == TK_OK)
        status = tki_runner_open(ctx, &(tki_runnable){.lowering = lowering}, &runner);
    if (status != TK_OK)
        return status;
    status = tki_runner_call(&runner, &work->c, work->buffers, 0, NULL);
    if (status == TK_OK)
        status = tk_ctx_synchronize(ctx);
    for (int p = 0; p < work->c.contract->param_count && status == TK_OK; p++) {
        if (!work->c.contract->params[p].output)
            continue;
        status = tk_memory_read(ctx, outputs, work->buffers[p], (size_t)work->bytes[p]);
        outputs += work->bytes[p];
    }
    tki_runner_close(&runner);
    return status;
}

static tk_status compute_choice(const way *w, const bench_choice *c, char *outputs)
{
    const tki_lowering *lowering = w->runner.executable.lowering;
    tki_chosen_set(w->t->ctx, lowering, &w->s->work.c, choice_of(c));
    return compute(w->t->ctx, lowering, &w->s->work, outputs);
}

/* The row without choices that comes last of those that the device takes. */
static const tki_lowering *plain_row(tk_ctx *ctx, const tk_case *c)
{
    const tki_lowering *plain = NULL;
    for (const tki_lowering *row = tki_lowerings_of(c->contract); row->backend; row++)
        if (row->backend == ctx->backend && !row->candidates && !row->accept(c, ctx->device))
            plain = row;
    return plain;
}

static tk_status compute_expected(const way *w, const bench_tuned *tuned, char *outputs)
{
    bench_product product;
    const bool is_product = bench_product_of(&w->s->work, &product);
    const tki_lowering *plain = is_product ? plain_row(w->t->ctx, &tuned->c) : NULL;
    return plain ? compute(w->t->ctx, plain, &w->s->work, outputs) : compute_choice(w, &tuned->choices[0], outputs);
}

/* The fastest first; but the model's own comes before all that are not faster by more than what counts as a gain. */
static int order_of(const race *r, const bench_tuned *tuned, int order[BENCH_MOST_CHOICES])
{
    const double level = (1 - BENCH_TUNE_GAIN) * tuned->choices[0].seconds;
    int count = 0;
    bool has_own = false;
    for (int i = 0; i < r->count; i++) {
        if (!has_own && tuned->choices[r->at[i]].seconds > level) {
            order[count++] = 0;
            has_own = true;
        }
        if (r->at[i] != 0)
            order[count++] = r->at[i];
    }
    return count;
}

static tk_status find_best(const way *w, const race *r, bench_tuned *tuned)
{
    int order[BENCH_MOST_CHOICES];
    const int count = order_of(r, tuned, order);
    const size_t bytes = output_bytes(&w->s->work);
    char *expected = malloc(bytes + 1), *got = malloc(bytes + 1);
    tk_status status = expected && got ? bench_copies_refill(w->s, bench_draw_exact)
                                       : tki_fail(w->t->ctx, TK_NO_MEMORY, "no memory to compare results");
    if (status == TK_OK)
        status = compute_expected(w, tuned, expected);
    for (int i = 0; i < count && status == TK_OK && tuned->best < 0; i++) {
        bench_choice *next = &tuned->choices[order[i]];
        status = compute_choice(w, next, got);
        next->is_wrong = status == TK_OK && memcmp(expected, got, bytes) != 0;
        tuned->best = status == TK_OK && !next->is_wrong ? order[i] : -1;
    }
    free(expected);
    free(got);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 * The whole
 * ------------------------------------------------------------------------------------------------------------ */

static void list_choices(const tki_lowering *lowering, const tk_case *c, int most, bench_tuned *tuned)
{
    tki_choice list[TKI_MOST_CANDIDATES];
    tuned->count = lowering->candidates(lowering, c, list, most < TKI_MOST_CANDIDATES ? most : TKI_MOST_CANDIDATES);
    for (int i = 0; i < tuned->count; i++)
        memcpy(tuned->choices[i].number, list[i].number, sizeof list[i].number);
}

bool bench_tune(bench_tuner *t, const tk_case *c, const char *id, int most, double seconds, bench_tuned *tuned)
{
    bench_copies s = {.work = {.ctx = t->ctx}};
    way w = {.t = t, .s = &s};
    race r;
    *tuned = (bench_tuned){.c = *c, .lowering = id, .best = -1};
    const tki_lowering *lowering = find_lowering(t->ctx, c, id);
    if (!lowering)
        return false;
    if (lowering->candidates)
        list_choices(lowering, c, most, tuned);
    if (tuned->count == 0) {
        (void)tki_fail(t->ctx, TK_UNSUPPORTED, "%s has no choices for this case", id);
        return false;
    }
    tk_status status = bench_copies_make(t->ctx, c, BENCH_UNIFORM, 0, &s);
    if (status == TK_OK)
        status = tki_runner_open(t->ctx, &(tki_runnable){.lowering = lowering}, &w.runner);
    if (status == TK_OK) {
        status = run_race(&w, seconds, tuned, &r);
        if (status == TK_OK)
            status = find_best(&w, &r, tuned);
        tki_runner_close(&w.runner);
    }
    bench_copies_free(&s);
    return status == TK_OK;
}

bool bench_tune_keep(bench_tuner *t, const bench_tuned *tuned)
{
    const tki_lowering *lowering = find_lowering(t->ctx, &tuned->c, tuned->lowering);
    if (!lowering || tuned->best < 0)
        return false;
    const bench_choice *best = &tuned->choices[tuned->best];
    return tki_chosen_keep(t->ctx, lowering, &tuned->c, choice_of(best), tuned->choices[0].seconds, best->seconds) ==
           TK_OK;
}

bool bench_tune_shape_at(const tk_contract *contract, int i, int64_t dims[TK_MAX_DIMS])
{
    static const int64_t more[][3] = {{4096, 4096, 4096}, {8192, 8192, 8192}, {4095, 4097, 1023}, {2048, 50257, 768},
                                      {2048, 256, 4096},  {1, 4096, 4096},    {8, 4096, 4096},    {16, 4096, 4096},
                                      {64, 4096, 4096},   {1, 14336, 4096},   {8, 14336, 4096},   {16, 14336, 4096},
                                      {64, 14336, 4096}};
    int listed = 0;
    while (listed <= i && bench_gpu_shape_at(contract, listed, dims))
        listed++;
    if (listed > i)
        return true;
    if (contract->dim_count != 3 || i - listed >= (int)(sizeof more / sizeof *more))
        return false;
    memset(dims, 0, TK_MAX_DIMS * sizeof *dims);
    memcpy(dims, more[i - listed], sizeof more[i - listed]);
    return true;
}
