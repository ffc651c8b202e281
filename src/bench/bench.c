/* SHOWS. One case, every arm in turn: each round runs each arm once, so that whatever else the machine does meets all of them. The
 * first run of each is not counted, unless one run takes longer than the time given; it shows that a peer does the same
 * work: its result is compared, coarsely, with that of our first lowering. */
#include "bench/bench.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine_limits.h"
#include "bench/peers.h"
#include "bench/plain.h"
#include "core/context.h"
#include "core/dtype.h"
#include "runtime/kernel_runner.h"
#include "runtime/planner.h"

/* -- Work --------------------------------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Uniform in [-2, 2), of products in [-1, 1); where a softmax is expected, positive and summing to about one. */
static float draw_value(const tk_case *c, int param, uint64_t *state)
{
    float unit = (float)(draw(state) & 0xffffff) * 0x1p-24f;
    bool probability = !strcmp(c->contract->name, "softmax_bwd") && !strcmp(c->contract->params[param].name, "y");
    float width = bench_is_product(c->contract) || !strncmp(c->contract->name, "grouped_gemm", 12) ? 1 : 2;
    return probability ? 2.0f * unit / (float)c->dims[1] : width * (2.0f * unit - 1.0f);
}

/* Into the range that a definition may state. */
static float within(const tk_param *param, float value)
{
    if (param->least == 0 && param->most == 0)
        return value;
    const double share = 0.25 + ((double)value + 2) / 8; /* of [-2, 2): 1/4 to 3/4 */
    if (isfinite(param->least) && isfinite(param->most))
        return (float)(param->least + share * (param->most - param->least));
    return (float)(isfinite(param->least) ? param->least + share : param->most - share);
}

static void put_value(tk_dtype dtype, void *values, int64_t i, float value)
{
    switch (dtype) {
    case TK_I32: ((int32_t *)values)[i] = (int32_t)value; return;
    case TK_I64: ((int64_t *)values)[i] = (int64_t)value; return;
    case TK_F8_E4M3:
    case TK_F8_E5M2: ((uint8_t *)values)[i] = (uint8_t)(0x30 + (int)value); return; /* of either about one */
    case TK_BOOL:
    case TK_U8: ((uint8_t *)values)[i] = value > 0; return;
    case TK_F16: ((uint16_t *)values)[i] = tki_f32_to_f16(value); return;
    case TK_BF16: ((uint16_t *)values)[i] = tki_f32_to_bf16(value); return;
    default: ((float *)values)[i] = value; return;
    }
}

/* Every pattern equally likely: they stand for residues, whatever the modulus is. */
static void draw_integers(uint64_t *values, int64_t count, uint64_t state)
{
    for (int64_t i = 0; i < count; i++) {
        const uint64_t upper = draw(&state) << 33;
        values[i] = upper ^ draw(&state) << 16 ^ draw(&state);
    }
}

static int64_t draw_index(bench_indices indices, int64_t range, uint64_t *state)
{
    if (range <= 1)
        return 0;
    if (indices == BENCH_EQUAL)
        return range / 2;
    if (indices == BENCH_UNIFORM)
        return (int64_t)(draw(state) % (uint64_t)range);
    /* Below k with probability log(k + 1) / log(range + 1). */
    double unit = (double)draw(state) * 0x1p-31;
    return (int64_t)fmin(exp(unit * log1p((double)range)), (double)range) - 1;
}

void bench_draw_indices(const bench_work *work, int param, void *data)
{
    const tk_case *c = &work->c;
    const int64_t count = tk_case_elements(c, param);
    const int64_t range = c->dims[c->contract->params[param].indexed_dim];
    uint64_t state = (uint64_t)param + 1;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = c->contract->params[param].rule == TK_INDICES_ENDS
                            ? (i + 1) * range / count /* groups of one size */
                            : draw_index(work->indices, range, &state);
        if (c->index_dtype == TK_I64)
            ((int64_t *)data)[i] = index;
        else
            ((int32_t *)data)[i] = (int32_t)index;
    }
}

void bench_draw_exact(const tk_case *c, int param, void *values, int64_t count)
{
    enum { LEAST = -2, NUMBERS = 5 };
    uint64_t state = (uint64_t)param + 77;
    for (int64_t i = 0; i < count; i++)
        put_value(tk_case_param_dtype(c, param), values, i, (float)(LEAST + (int)(draw(&state) % NUMBERS)));
}

void bench_draw_values(const tk_case *c, int param, void *values, int64_t count)
{
    enum { PERIOD = 1 << 20 };
    const tk_dtype dtype = tk_case_param_dtype(c, param);
    const size_t element = tk_dtype_size(dtype);
    uint64_t state = (uint64_t)param + 1;
    if (dtype == TK_U64) {
        draw_integers(values, count, state);
        return;
    }
    for (int64_t i = 0; i < count && i < PERIOD; i++)
        put_value(dtype, values, i, within(&c->contract->params[param], draw_value(c, param, &state)));
    for (int64_t i = PERIOD; i < count; i += PERIOD)
        memcpy((char *)values + (size_t)i * element, values,
               element * (size_t)(count - i < PERIOD ? count - i : PERIOD));
}

int64_t bench_case_bytes(const tk_case *c)
{
    int64_t bytes = 0;
    for (int p = 0; p < c->contract->param_count; p++)
        bytes += tk_case_elements(c, p) * (int64_t)tk_dtype_size(tk_case_param_dtype(c, p));
    return bytes;
}

void bench_work_sizes(bench_work *work)
{
    const tk_case *c = &work->c;
    for (int p = 0; p < c->contract->param_count; p++)
        work->bytes[p] = tk_case_elements(c, p) * (int64_t)tk_dtype_size(tk_case_param_dtype(c, p));
}

static void work_free(bench_work *work)
{
    for (int p = 0; p < work->c.contract->param_count; p++)
        free(work->buffers[p]);
}

static tk_status work_make(bench_work *work)
{
    const tk_case *c = &work->c;
    bench_work_sizes(work);
    for (int p = 0; p < c->contract->param_count; p++) {
        work->buffers[p] = bench_alloc(work->bytes[p]);
        if (!work->buffers[p])
            return tki_fail(work->ctx, TK_NO_MEMORY, "no memory for %s", c->contract->params[p].name);
        if (c->contract->params[p].kind == TK_KIND_INDEX)
            bench_draw_indices(work, p, work->buffers[p]);
        else if (!c->contract->params[p].output)
            bench_draw_values(c, p, work->buffers[p], tk_case_elements(c, p));
    }
    return tk_case_check(work->ctx, c, work->buffers);
}

/* -- Arms --------------------------------------------------------------------------------------------------------- */

static bool run_lowering(bench_arm *arm)
{
    return tk_ctx_set_threads(arm->work->ctx, arm->work->threads) == TK_OK &&
           tki_runner_call(arm->state, &arm->work->c, arm->work->buffers, 0, NULL) == TK_OK;
}

static void close_lowering(bench_arm *arm)
{
    tki_runner_close(arm->state);
    free(arm->state);
}

static tk_status attach_lowering(const bench_work *work, const char *id, bench_arm *arm)
{
    tki_plan plan;
    if (tk_contract_definition(work->c.contract))
        return bench_plain_attach(work, id, arm);
    tki_plan_case(work->ctx, &work->c, NULL, id, &plan);
    if (!plan.lowering)
        return tki_fail(work->ctx, TK_UNSUPPORTED, "%s: %s", id, plan.refusals);
    tki_runner *runner = calloc(1, sizeof *runner);
    if (!runner)
        return tki_fail(work->ctx, TK_NO_MEMORY, "no memory for a runner");
    snprintf(arm->name, sizeof arm->name, "%s", id);
    arm->run = run_lowering;
    arm->close = close_lowering;
    arm->state = runner;
    return tki_runner_open(work->ctx, &(tki_runnable){.lowering = plan.lowering}, runner);
}

bool bench_is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, name, length) && (at[length] == ',' || at[length] == '\0'))
            return true;
    return !list;
}

static bench_arm *new_arm(bench_result *result, const bench_work *work, bench_kind kind)
{
    if (result->arm_count == BENCH_ARMS)
        return NULL;
    bench_arm *arm = &result->arms[result->arm_count];
    *arm = (bench_arm){.kind = kind, .threads = work->threads, .work = work, .scale = 1};
    return arm;
}

static void drop(bench_arm *arm)
{
    if (arm->close)
        arm->close(arm);
    *arm = (bench_arm){0};
}

bool bench_has_peers(const tk_case *c)
{
    return c->dtype == c->result_dtype && (tk_dtype_size(c->dtype) == sizeof(uint16_t) || c->dtype == TK_U64);
}

static void attach_peers(const bench_work *work, const char *list, bench_result *result)
{
    const char *missing;
    for (int i = 0; bench_peers[i]; i++) {
        if (!bench_is_listed(list, bench_peers[i]->name) || !bench_peers[i]->find(&missing))
            continue;
        for (int variant = 0; variant < 4; variant++) {
            bench_arm *arm = new_arm(result, work, BENCH_PEER);
            if (!arm)
                return;
            snprintf(arm->name, sizeof arm->name, "%s", bench_peers[i]->name);
            if (bench_peers[i]->attach(work, variant, arm))
                result->arm_count++;
            else
                drop(arm);
        }
    }
}

static tk_status attach_all(const bench_work *work, const char *const lowerings[], int count,
                            const bench_options *options, bench_result *result)
{
    for (int i = 0; i < count; i++) {
        bench_arm *arm = new_arm(result, work, BENCH_LOWERING);
        if (!arm)
            break;
        result->arm_count++;
        tk_status status = attach_lowering(work, lowerings[i], arm);
        if (status != TK_OK)
            return status;
    }
    for (int i = 0;; i++) {
        bench_arm *arm = new_arm(result, work, BENCH_LIMIT);
        if (!arm || !bench_limit_attach(work, i, result->work_flops, arm))
            break;
        result->arm_count++;
    }
    if (!options->scaling && bench_has_peers(&work->c))
        attach_peers(work, options->peers, result);
    return TK_OK;
}

/* -- Does it do the same work? ------------------------------------------------------------------------------------- */

static double value_at(const bench_work *work, int param, const void *data, int64_t i)
{
    switch (tk_case_param_dtype(&work->c, param)) {
    case TK_F16: return (double)tki_f16_to_f32(((const uint16_t *)data)[i]);
    case TK_BF16: return (double)tki_bf16_to_f32(((const uint16_t *)data)[i]);
    default: return (double)((const float *)data)[i];
    }
}

bool bench_agrees(const bench_work *work, void *const reference[], void *const results[])
{
    for (int p = 0; p < work->c.contract->param_count; p++) {
        const int64_t count = tk_case_elements(&work->c, p);
        const int64_t step = count / (1 << 20) + 1;
        double size = 0;
        double difference = 0;
        if (!work->c.contract->params[p].output)
            continue;
        if (tk_case_param_dtype(&work->c, p) == TK_U64) { /* nothing is near */
            if (memcmp(reference[p], results[p], (size_t)count * sizeof(uint64_t)) != 0)
                return false;
            continue;
        }
        for (int64_t i = 0; i < count; i += step) {
            double expected = value_at(work, p, reference[p], i);
            size += fabs(expected);
            difference += fabs(value_at(work, p, results[p], i) - expected);
        }
        if (!(difference <= 0.01 * size))
            return false;
    }
    return true;
}

/* NaN everywhere, so that what an arm leaves unwritten is seen. */
static void poison(const bench_work *work)
{
    for (int p = 0; p < work->c.contract->param_count; p++)
        if (work->c.contract->params[p].output)
            memset(work->buffers[p], 0xff, (size_t)work->bytes[p]);
}

static bool keep_outputs(const bench_work *work, void *copies[TK_MAX_PARAMS])
{
    for (int p = 0; p < work->c.contract->param_count; p++) {
        if (!work->c.contract->params[p].output)
            continue;
        copies[p] = bench_alloc(work->bytes[p]);
        if (!copies[p])
            return false;
        memcpy(copies[p], work->buffers[p], (size_t)work->bytes[p]);
    }
    return true;
}

static tk_status warm_up(const bench_work *work, bench_result *result)
{
    void *reference[TK_MAX_PARAMS] = {NULL};
    tk_status status = TK_OK;
    for (int i = 0; i < result->arm_count && status == TK_OK; i++) {
        bench_arm *arm = &result->arms[i];
        if (arm->kind != BENCH_LIMIT)
            poison(work);
        double begin = bench_now(work->processor_time);
        bool good = arm->run(arm);
        arm->best = arm->median = (bench_now(work->processor_time) - begin) * arm->scale;
        if (arm->kind == BENCH_LOWERING && !good)
            status = TK_INTERNAL; /* the context has the kernel's own message */
        else if (i == 0 && !keep_outputs(work, reference))
            status = tki_fail(work->ctx, TK_NO_MEMORY, "no memory for a copy of the results");
        else if (arm->kind == BENCH_PEER && (!good || !bench_agrees(work, reference, work->buffers)))
            arm->differs = true;
    }
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        free(reference[p]);
    return status;
}

/* -- Timing ------------------------------------------------------------------------------------------------------- */

enum { MOST_SAMPLES = 4096, LEAST_SAMPLES = 3 };

typedef struct clockwork {
    double *samples; /* [MOST_SAMPLES] */
    int count;
    int64_t calls; /* in one sample */
    double spent;
    bool done;
} clockwork;

static void take_sample(bench_arm *arm, clockwork *w, double share)
{
    const bool processor_time = arm->work->processor_time;
    double begin = bench_now(processor_time);
    bool good = true;
    for (int64_t i = 0; i < w->calls; i++)
        good = arm->run(arm) && good;
    double elapsed = bench_now(processor_time) - begin;
    w->samples[w->count++] = elapsed / (double)w->calls * arm->scale;
    w->spent += elapsed;
    w->done = !good || w->count == MOST_SAMPLES || (w->spent >= share && w->count >= LEAST_SAMPLES);
}

/* So many calls that a sample is long beside the clock's own cost, and that the samples suffice for the time given. */
static int64_t calls_of(const bench_arm *arm, double share)
{
    double least = fmax(2e-5, share / (MOST_SAMPLES / 2.0));
    double once = arm->best / arm->scale;
    return once >= least ? 1 : (int64_t)ceil(least / fmax(once, 1e-8));
}

static bool time_arms(bench_result *result, double seconds)
{
    clockwork w[BENCH_ARMS] = {{0}};
    double *samples = malloc(sizeof *samples * BENCH_ARMS * MOST_SAMPLES);
    if (!samples)
        return false;
    const double share = seconds / result->arm_count;
    for (int i = 0; i < result->arm_count; i++) {
        w[i].samples = samples + (ptrdiff_t)i * MOST_SAMPLES;
        w[i].calls = calls_of(&result->arms[i], share);
        w[i].done = result->arms[i].differs || result->arms[i].best / result->arms[i].scale > 2 * seconds + 1;
    }
    for (bool busy = true; busy;) {
        busy = false;
        for (int i = 0; i < result->arm_count; i++) {
            if (w[i].done)
                continue;
            take_sample(&result->arms[i], &w[i], share);
            busy = true;
        }
    }
    for (int i = 0; i < result->arm_count; i++)
        bench_arm_settle(&result->arms[i], w[i].samples, w[i].count);
    free(samples);
    return true;
}

static void time_pytorch(const bench_work *work, const bench_options *options, bench_result *result)
{
    const char *missing;
    bench_arm *arm = new_arm(result, work, BENCH_PEER);
    if (!arm || options->scaling || options->in_turn || !bench_is_listed(options->peers, "pytorch") ||
        !bench_pytorch_find(&missing))
        return;
    strcpy(arm->name, "pytorch (apart)");
    arm->separate = true;
    if (bench_pytorch_time(work, options->seconds / 4, &arm->best, &arm->median, &arm->samples))
        result->arm_count++;
}

/* -- Threads ------------------------------------------------------------------------------------------------------- */

/* Each thread to a processor of its own: beside other work the kernel likes to leave two that sleep and wake together on
 * one. The run-time keeps its threads, and their order, from one parallel region to the next. */
static void bind_threads(int threads)
{
    static cpu_set_t allowed;
    if (CPU_COUNT(&allowed) == 0 && sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
#pragma omp parallel num_threads(threads)
    {
        cpu_set_t own;
        int left = omp_get_thread_num() % CPU_COUNT(&allowed);
        CPU_ZERO(&own);
        for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &allowed) && left-- == 0)
                CPU_SET(cpu, &own);
        (void)sched_setaffinity(0, sizeof own, &own);
    }
}

/* -- The whole ----------------------------------------------------------------------------------------------------- */

void bench_measure_size(const bench_work *work, bench_result *result)
{
    bench_traffic traffic;
    bench_product product;
    result->work_bytes = bench_traffic_of(work, &traffic);
    if (bench_layer_of(work, &product))
        result->work_flops = 2.0 * (double)product.rows * (double)product.cols * (double)product.inner;
    else if (tk_contract_definition(work->c.contract))
        result->work_flops = 0;
    else if (!strncmp(work->c.contract->name, "grouped_gemm", strlen("grouped_gemm")) ||
             !strncmp(work->c.contract->name, "linear_", strlen("linear_")))
        result->work_flops = 2.0 * (double)work->c.dims[0] * (double)work->c.dims[1] * (double)work->c.dims[2];
    for (int p = 0; p < work->c.contract->param_count; p++) {
        bool gathered = bench_is(work, "embedding_fwd") && p == 1;
        double elements = (double)tk_case_elements(&work->c, p);
        if (!gathered && elements > result->elements)
            result->elements = elements;
    }
}

/* The faster of the two ways to move the bytes; for a GEMM its arithmetic, if that takes longer. */
static void conclude(bench_result *result)
{
    double traffic = INFINITY;
    double arithmetic = 0;
    for (int i = 0; i < result->arm_count; i++) {
        const bench_arm *arm = &result->arms[i];
        const double seconds = bench_time(result, arm);
        if (arm->threads != result->threads)
            continue;
        if (arm->kind == BENCH_LIMIT && strcmp(arm->name, "limit: multiply-add") != 0)
            traffic = fmin(traffic, seconds);
        else if (arm->kind == BENCH_LIMIT)
            arithmetic = seconds;
        if (arm->kind == BENCH_PEER && !arm->differs && (result->best_peer <= 0 || seconds < result->best_peer)) {
            result->best_peer = seconds;
            result->best_peer_name = arm->name;
        }
    }
    result->limit = isfinite(traffic) ? fmax(traffic, arithmetic) : arithmetic;
}

bool bench_measure(tk_ctx *ctx, const tk_case *c, const char *const lowerings[], int count,
                   const bench_options *options, bench_result *result)
{
    bench_work work = {.ctx = ctx,
                       .c = *c,
                       .indices = options->indices,
                       .threads = options->threads,
                       .processor_time = options->processor_time};
    /* Where the system guesses how much of a thread's time others took, the shortest samples are too short. */
    *result = (bench_result){.c = *c,
                             .indices = options->indices,
                             .threads = options->threads,
                             .processor_time = options->processor_time,
                             .by_median = options->processor_time};
    /* Peers that are built on OpenMP share the run-time that this program has loaded, and ask it. */
    omp_set_num_threads(options->threads);
    if (options->scaling)
        bind_threads(options->threads);
    tk_status status = tk_ctx_set_threads(ctx, options->threads);
    if (status == TK_OK)
        status = work_make(&work);
    bench_work single = work;
    single.threads = 1;
    if (status == TK_OK) {
        bench_measure_size(&work, result);
        status = attach_all(&work, lowerings, count, options, result);
    }
    if (status == TK_OK && options->scaling && work.threads > 1)
        status = attach_all(&single, lowerings, count, options, result);
    if (status == TK_OK)
        status = warm_up(&work, result);
    if (status == TK_OK && !time_arms(result, options->seconds))
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for the samples");
    for (int i = 0; i < result->arm_count; i++) {
        bench_arm *arm = &result->arms[i];
        if (arm->close)
            arm->close(arm);
        arm->close = NULL;
        arm->state = NULL;
    }
    if (status == TK_OK) {
        time_pytorch(&work, options, result);
        conclude(result);
    }
    for (int i = 0; i < result->arm_count; i++)
        result->arms[i].work = NULL;
    work_free(&work);
    return status == TK_OK;
}
