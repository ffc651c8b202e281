/* SHOWS. One case on a GPU: copies of its tensors, the arms, rounds, statistics. */
#include "bench/gpu_timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cublaslt.h"
#include "bench/gpu_clock.h"
#include "bench/gpu_copies.h"
#include "bench/gpu_peers.h"
#include "bench/machine_limits.h"
#include "bench/peers.h"
#include "core/clock.h"
#include "core/context.h"
#include "core/scratch.h"
#include "runtime/kernel_runner.h"
#include "runtime/gpu.h"
#include "runtime/planner.h"

enum { MOST_SAMPLES = 1024, LEAST_SAMPLES = 5 };

struct bench_gpu {
    tk_ctx *ctx;
    bench_clock clock;
    tki_gpu_kernel *nothing;  /* launched for a product without rows: its blocks find nothing to do */
    bench_gpu_peers *peers;   /* NULL: none */
    bench_cublaslt *cublaslt; /* NULL: none */
    bench_cublaslt *apart;    /* for products whose gelu is a kernel of its own */
    char device[320];
    char found[320];
    char cublaslt_found[512];
};

/* -- Opening ------------------------------------------------------------------------------------------------------ */

static void open_peers(bench_gpu *g, const char *list)
{
    if (list && !strcmp(list, "none"))
        snprintf(g->found, sizeof g->found, "not requested");
    if (bench_is_listed(list, "pytorch") || bench_is_listed(list, "torch.compile") || bench_is_listed(list, "triton"))
        g->peers = bench_gpu_peers_open(g->ctx->device->ordinal, list, g->found, sizeof g->found);
    if (bench_is_listed(list, "cublaslt"))
        g->cublaslt = bench_cublaslt_open(g->ctx, g->cublaslt_found, sizeof g->cublaslt_found);
    char again[sizeof g->cublaslt_found];
    if (g->cublaslt)
        g->apart = bench_cublaslt_open(g->ctx, again, sizeof again);
}

bench_gpu *bench_gpu_open(tk_ctx *ctx, const bench_options *options)
{
    bench_gpu *g = calloc(1, sizeof *g);
    if (!g) {
        (void)tki_fail(ctx, TK_NO_MEMORY, "no memory to measure with");
        return NULL;
    }
    g->ctx = ctx;
    const tki_gpu_info *info = ctx->device;
    snprintf(g->device, sizeof g->device, "%s, %s, driver %s, %d multiprocessors, L2 %.0f MB", info->name,
             info->architecture, info->driver, info->units, 1e-6 * (double)info->l2_bytes);
    tk_status status = bench_clock_open(ctx, &g->clock);
    if (status == TK_OK)
        status = tki_gpu_kernel_get(ctx, ctx->gpu, "ops/product/kernel_gemm.cu", (tk_types){TK_F16, TK_F16},
                                    "product_64", &g->nothing);
    if (status != TK_OK) {
        bench_gpu_close(g);
        return NULL;
    }
    open_peers(g, options->peers);
    return g;
}

void bench_gpu_close(bench_gpu *g)
{
    if (!g)
        return;
    bench_gpu_peers_close(g->peers);
    bench_cublaslt_close(g->cublaslt);
    bench_cublaslt_close(g->apart);
    bench_clock_close(&g->clock);
    free(g);
}

const char *bench_gpu_device(const bench_gpu *g)
{
    return g->device;
}

const char *bench_gpu_peer_at(int i)
{
    static const char *const names[] = {"pytorch", "torch.compile", "triton", "cublaslt"};
    return i >= 0 && i < (int)(sizeof names / sizeof *names) ? names[i] : NULL;
}

const char *bench_gpu_peers_found(const bench_gpu *g)
{
    return g->found;
}

const char *bench_gpu_cublaslt_found(const bench_gpu *g)
{
    return g->cublaslt_found;
}

/* -- Arms --------------------------------------------------------------------------------------------------------- */

typedef struct arm {
    bench_arm *shown;
    tk_status (*call)(bench_gpu *g, bench_copies *s, struct arm *arm); /* queues one call; NULL: a Python peer's */
    tki_runner runner;
    tk_case gelu;   /* of call_apart() */
    int peer;       /* which arm of the Python peers, or which algorithm of cuBLASLt */
    int algorithms; /* that cuBLASLt offers; 0: another arm */
    int64_t calls;  /* in one sample */
    double samples[MOST_SAMPLES];
    int count;
    bool failed; /* a peer's; it is left out then */
} arm;

static tk_status call_lowering(bench_gpu *g, bench_copies *s, arm *a)
{
    (void)g;
    return tki_runner_call(&a->runner, &s->work.c, s->work.buffers, 0, NULL);
}

/* Reads half of the bytes and writes the other half. */
static tk_status call_copy(bench_gpu *g, bench_copies *s, arm *a)
{
    (void)a;
    return tki_gpu_copy(g->ctx, g->ctx->gpu, g->ctx->stream, s->sink + s->next * s->sink_stride,
                        s->first + s->next * s->stride, (size_t)s->sink_stride);
}

static tk_status launch_nothing(bench_gpu *g)
{
    static const unsigned char no_rows[256] = {0};
    return tki_gpu_launch(g->ctx, g->ctx->gpu, g->ctx->stream, g->nothing,
                          (tki_gpu_grid){.blocks = {1}, .threads = 128}, no_rows);
}

static tk_status call_nothing(bench_gpu *g, bench_copies *s, arm *a)
{
    (void)s;
    (void)a;
    return launch_nothing(g);
}

static tk_status call_cublaslt(bench_gpu *g, bench_copies *s, arm *a)
{
    a->failed = !bench_cublaslt_call(g->cublaslt, &s->work, a->peer) || a->failed;
    return TK_OK;
}

/* The product, then our gelu or its derivative. */
static tk_status call_apart(bench_gpu *g, bench_copies *s, arm *a)
{
    bench_product p;
    a->failed = !bench_cublaslt_call(g->apart, &s->work, a->peer) || !bench_layer_of(&s->work, &p) || a->failed;
    if (a->failed)
        return TK_OK;
    void *const fwd[] = {p.pre, p.c}, *const bwd[] = {p.c, tki_input(p.slope_at), p.c};
    return tki_runner_call(&a->runner, &a->gelu, p.pre ? fwd : bwd, 0, NULL);
}

static arm *new_arm(bench_result *result, arm *arms, bench_kind kind, const char *name)
{
    if (result->arm_count == BENCH_ARMS)
        return NULL;
    arm *a = &arms[result->arm_count];
    a->shown = &result->arms[result->arm_count++];
    *a->shown = (bench_arm){.kind = kind, .threads = 1, .scale = 1};
    snprintf(a->shown->name, sizeof a->shown->name, "%.127s", name);
    return a;
}

static void attach_cublaslt(bench_gpu *g, const bench_copies *s, bench_result *result, arm *arms)
{
    const int algorithms = g->cublaslt ? bench_cublaslt_case(g->cublaslt, &s->work, true) : 0;
    arm *a = algorithms > 0 ? new_arm(result, arms, BENCH_PEER, "cublaslt") : NULL;
    if (a) {
        a->call = call_cublaslt;
        a->algorithms = algorithms;
    }
}

static tk_status attach_apart(bench_gpu *g, const bench_copies *s, bench_result *result, arm *arms)
{
    bench_product p;
    tki_plan plan;
    const tk_case *c = &s->work.c;
    if (!g->apart || c->dtype != c->result_dtype || !bench_layer_of(&s->work, &p) || (!p.pre && !p.slope_at))
        return TK_OK;
    const int algorithms = bench_cublaslt_case(g->apart, &s->work, false);
    arm *a = algorithms > 0 ? new_arm(result, arms, BENCH_PEER, "cublaslt, then gelu") : NULL;
    if (!a)
        return TK_OK;
    a->gelu = tk_case_init(tk_contract_find(p.pre ? "gelu_fwd" : "gelu_bwd"), c->dtype);
    a->gelu.dims[0] = p.rows * p.cols;
    a->algorithms = algorithms;
    tki_plan_case(g->ctx, &a->gelu, NULL, NULL, &plan);
    if (!plan.lowering)
        return tki_fail(g->ctx, TK_UNSUPPORTED, "%s: %s", a->gelu.contract->name, plan.refusals);
    tk_status status = tki_runner_open(g->ctx, &(tki_runnable){.lowering = plan.lowering}, &a->runner);
    a->call = status == TK_OK ? call_apart : NULL;
    return status;
}

static tk_status attach(bench_gpu *g, const bench_copies *s, const char *const lowerings[], int count,
                        bench_result *result, arm *arms)
{
    char names[BENCH_GPU_PEER_ARMS][BENCH_GPU_PEER_NAME];
    for (int i = 0; i < count; i++) {
        tki_plan plan;
        tki_plan_case(g->ctx, &s->work.c, NULL, lowerings[i], &plan);
        if (!plan.lowering)
            return tki_fail(g->ctx, TK_UNSUPPORTED, "%s: %s", lowerings[i], plan.refusals);
        arm *a = new_arm(result, arms, BENCH_LOWERING, lowerings[i]);
        if (!a)
            break;
        a->call = call_lowering;
        tk_status status = tki_runner_open(g->ctx, &(tki_runnable){.lowering = plan.lowering}, &a->runner);
        if (status != TK_OK)
            return status;
    }
    arm *copy = new_arm(result, arms, BENCH_LIMIT, "limit: copy");
    if (copy)
        copy->call = call_copy;
    arm *nothing = new_arm(result, arms, BENCH_LIMIT, "limit: empty launch");
    if (nothing)
        nothing->call = call_nothing;
    attach_cublaslt(g, s, result, arms);
    tk_status status = attach_apart(g, s, result, arms);
    if (status != TK_OK)
        return status;
    const int peers = g->peers && bench_has_peers(&s->work.c)
                          ? bench_gpu_peers_case(g->peers, &s->work.c, s->work.indices, bench_rotated_bytes(g->ctx),
                                                 names)
                          : 0;
    for (int i = 0; i < peers; i++) {
        arm *a = new_arm(result, arms, BENCH_PEER, names[i]);
        if (a)
            a->peer = i;
    }
    return TK_OK;
}

/* -- Timing ------------------------------------------------------------------------------------------------------- */

typedef struct queued {
    bench_gpu *g;
    bench_copies *s;
    arm *a;
} queued;

static tk_status queue_call(void *data)
{
    const queued *q = data;
    bench_copies_next(q->s);
    return q->a->call(q->g, q->s, q->a);
}

static tk_status take_sample(bench_gpu *g, bench_copies *s, arm *a, int64_t calls, double *seconds)
{
    if (!a->call) {
        a->failed = !bench_gpu_peers_time(g->peers, a->peer, calls, seconds);
        return TK_OK;
    }
    return bench_clock_sample(&g->clock, calls, queue_call, &(queued){g, s, a}, seconds);
}

/* Tries each of cuBLASLt's algorithms shortly; the arm is the fastest that does not fail. */
static tk_status choose_algorithm(bench_gpu *g, bench_copies *s, arm *a)
{
    enum { SAMPLES = 3 };
    double least = INFINITY;
    int fastest = -1;
    tk_status status = TK_OK;
    for (a->peer = 0; a->peer < a->algorithms && status == TK_OK; a->peer++) {
        double once = 0;
        a->failed = false;
        status = take_sample(g, s, a, BENCH_LEAST_CALLS, &once); /* it may have a kernel to load */
        for (int k = 0; k < SAMPLES && status == TK_OK && !a->failed; k++) {
            status = take_sample(g, s, a, bench_calls_of_a_sample(once), &once);
            if (status == TK_OK && !a->failed && once < least) {
                least = once;
                fastest = a->peer;
            }
        }
    }
    a->peer = fastest;
    a->failed = fastest < 0;
    return status;
}

static void free_outputs(void *outputs[TK_MAX_PARAMS])
{
    for (int p = 0; p < TK_MAX_PARAMS; p++) {
        free(outputs[p]);
        outputs[p] = NULL;
    }
}

/* What an arm computes on the tensors that come next, of which outputs are poisoned first. */
static tk_status take_outputs(bench_gpu *g, bench_copies *s, arm *a, void *outputs[TK_MAX_PARAMS])
{
    tk_ctx *ctx = g->ctx;
    const bench_work *work = &s->work;
    tk_status status = TK_OK;
    for (int p = 0; p < work->c.contract->param_count && status == TK_OK; p++)
        if (work->c.contract->params[p].output)
            status = tki_gpu_fill(ctx, ctx->gpu, ctx->stream, work->buffers[p], 0xff, (size_t)work->bytes[p]);
    if (status == TK_OK)
        status = a->call(g, s, a);
    if (status == TK_OK)
        status = tk_ctx_synchronize(ctx);
    for (int p = 0; p < work->c.contract->param_count && status == TK_OK; p++) {
        if (!work->c.contract->params[p].output)
            continue;
        outputs[p] = malloc((size_t)work->bytes[p] + 1);
        status = outputs[p] ? tk_memory_read(ctx, outputs[p], work->buffers[p], (size_t)work->bytes[p])
                            : tki_fail(ctx, TK_NO_MEMORY, "no memory to compare results");
    }
    return status;
}

/* Peers in this process work on our tensors: their results are compared with those of the first lowering, coarsely. */
static tk_status compare(bench_gpu *g, bench_copies *s, const bench_result *result, arm *arms)
{
    void *ours[TK_MAX_PARAMS] = {NULL}, *theirs[TK_MAX_PARAMS] = {NULL};
    tk_status status = TK_OK;
    for (int i = 1; i < result->arm_count && status == TK_OK; i++) {
        if (arms[i].algorithms == 0 || arms[i].failed || result->arms[0].kind != BENCH_LOWERING)
            continue;
        bool has_ours = false;
        for (int p = 0; p < TK_MAX_PARAMS; p++)
            has_ours |= ours[p] != NULL;
        if (!has_ours)
            status = take_outputs(g, s, &arms[0], ours);
        if (status == TK_OK)
            status = take_outputs(g, s, &arms[i], theirs);
        arms[i].shown->differs = status == TK_OK && !arms[i].failed && !bench_agrees(&s->work, ours, theirs);
        free_outputs(theirs);
    }
    free_outputs(ours);
    return status;
}

/* The first sample of an arm is not counted: it loads, compiles and settles how many calls make one. */
static tk_status warm_up(bench_gpu *g, bench_copies *s, bench_result *result, arm *arms)
{
    tk_status status = TK_OK;
    for (int i = 0; i < result->arm_count && status == TK_OK; i++) {
        double once = 0;
        if (arms[i].algorithms > 0)
            status = choose_algorithm(g, s, &arms[i]);
        for (int k = 0; k < 2 && status == TK_OK && !arms[i].failed; k++)
            status = take_sample(g, s, &arms[i], BENCH_LEAST_CALLS, &once);
        arms[i].calls = bench_calls_of_a_sample(once);
    }
    if (status == TK_OK)
        status = compare(g, s, result, arms);
    return status == TK_OK ? tk_ctx_synchronize(g->ctx) : status; /* a bad index would show here */
}

static tk_status time_arms(bench_gpu *g, bench_copies *s, bench_result *result, arm *arms, double seconds)
{
    const double end = tki_now() + seconds;
    tk_status status = TK_OK;
    for (int round = 0; round < MOST_SAMPLES && status == TK_OK && (round < LEAST_SAMPLES || tki_now() < end);
         round++) {
        for (int i = 0; i < result->arm_count && status == TK_OK; i++) {
            if (arms[i].failed || arms[i].shown->differs)
                continue;
            double sample = 0;
            status = take_sample(g, s, &arms[i], arms[i].calls, &sample);
            if (status == TK_OK && !arms[i].failed)
                arms[i].samples[arms[i].count++] = sample;
        }
    }
    for (int i = 0; i < result->arm_count; i++)
        bench_arm_settle(&result->arms[i], arms[i].samples, arms[i].count);
    return status;
}

static void conclude(bench_result *result, const arm *arms)
{
    int kept = 0;
    for (int i = 0; i < result->arm_count; i++)
        if (!arms[i].failed)
            result->arms[kept++] = result->arms[i];
    result->arm_count = kept;
    for (int i = 0; i < result->arm_count; i++) {
        const bench_arm *a = &result->arms[i];
        if (!strcmp(a->name, "limit: copy") && result->work_flops <= 0)
            result->limit = a->median;
        if (a->kind == BENCH_PEER && !a->differs && (result->best_peer <= 0 || a->median < result->best_peer)) {
            result->best_peer = a->median;
            result->best_peer_name = a->name;
        }
    }
}

bool bench_gpu_measure(bench_gpu *g, const tk_case *c, const char *const lowerings[], int count,
                       const bench_options *options, bench_result *result)
{
    bench_copies s = {.work = {.ctx = g->ctx, .c = *c}};
    *result = (bench_result){.c = *c, .indices = options->indices, .threads = 1, .by_median = true};
    arm *arms = calloc(BENCH_ARMS, sizeof *arms);
    if (!arms) {
        (void)tki_fail(g->ctx, TK_NO_MEMORY, "no memory for the samples");
        return false;
    }
    bench_work_sizes(&s.work);
    bench_measure_size(&s.work, result);
    tk_status status = bench_copies_make(g->ctx, c, options->indices, (int64_t)(result->work_bytes / 2), &s);
    if (status == TK_OK)
        status = attach(g, &s, lowerings, count, result, arms);
    if (status == TK_OK)
        status = warm_up(g, &s, result, arms);
    if (status == TK_OK)
        status = time_arms(g, &s, result, arms, options->seconds);
    if (status == TK_OK)
        conclude(result, arms);
    if (g->peers)
        bench_gpu_peers_end(g->peers);
    for (int i = 0; i < BENCH_ARMS; i++)
        if (arms[i].call == call_lowering || arms[i].call == call_apart)
            tki_runner_close(&arms[i].runner);
    bench_copies_free(&s);
    free(arms);
    return status == TK_OK;
}

/* -- Limits, small calls, first use ---------------------------------------------------------------------------------- */

static tk_status time_copy(bench_gpu *g, char *memory, size_t bytes, double *seconds)
{
    tk_ctx *ctx = g->ctx;
    tk_status status = tki_gpu_event_record(ctx, ctx->gpu, g->clock.begin, ctx->stream);
    if (status == TK_OK)
        status = tki_gpu_copy(ctx, ctx->gpu, ctx->stream, memory + bytes, memory, bytes);
    if (status == TK_OK)
        status = tki_gpu_event_record(ctx, ctx->gpu, g->clock.end, ctx->stream);
    return status == TK_OK ? tki_gpu_event_seconds(ctx, ctx->gpu, g->clock.begin, g->clock.end, seconds) : status;
}

bool bench_gpu_limits_measure(bench_gpu *g, bench_gpu_limits *limits)
{
    enum { ROUNDS = 25 };
    tk_ctx *ctx = g->ctx;
    const int64_t eighth = ctx->device->memory_bytes / 8;
    const size_t bytes = eighth < 1 << 30 ? (size_t)eighth : (size_t)1 << 30;
    void *memory = NULL;
    double copies_taken[ROUNDS];
    double launches[ROUNDS];
    arm nothing = {.call = call_nothing};
    tk_status status = tki_gpu_alloc(ctx, ctx->gpu, 2 * bytes, &memory);
    bench_copies none = {.work = {.ctx = ctx, .c = g->clock.delay_case}, .first = memory, .count = 1};
    if (status == TK_OK)
        status = tki_gpu_fill(ctx, ctx->gpu, ctx->stream, memory, 1, 2 * bytes);
    for (int i = 0; i < ROUNDS && status == TK_OK; i++) {
        status = time_copy(g, memory, bytes, &copies_taken[i]);
        if (status == TK_OK)
            status = take_sample(g, &none, &nothing, BENCH_MOST_CALLS, &launches[i]);
    }
    tki_gpu_free(ctx->gpu, memory);
    if (status != TK_OK)
        return false;
    limits->copy = 2 * (double)bytes / bench_median(copies_taken, ROUNDS);
    limits->launch = bench_median(launches, ROUNDS);
    return true;
}

/* A case of a few elements on buffers of its own, all of them zero: an index too. */
typedef struct tiny {
    tk_case c;
    void *memory;
    void *buffers[TK_MAX_PARAMS];
} tiny;

static tk_status make_tiny(tk_ctx *ctx, const tk_contract *contract, tk_types types, tiny *t)
{
    *t = (tiny){.c = tk_case_init(contract, types.dtype)};
    t->c.result_dtype = types.result_dtype;
    for (int d = 0; d < contract->dim_count; d++)
        t->c.dims[d] = 8;
    enum { ROOM = 4096 };
    tk_status status = tki_gpu_alloc(ctx, ctx->gpu, ROOM * TK_MAX_PARAMS, &t->memory);
    if (status != TK_OK)
        return status;
    for (int p = 0; p < contract->param_count; p++)
        t->buffers[p] = (char *)t->memory + (ptrdiff_t)p * ROOM;
    return tki_gpu_fill(ctx, ctx->gpu, ctx->stream, t->memory, 0, ROOM * TK_MAX_PARAMS);
}

bool bench_gpu_overhead_measure(bench_gpu *g, const tk_contract *contract, tk_types types,
                                bench_gpu_overhead *overhead)
{
    enum { ROUNDS = 101, IN_A_ROW = 100 }; /* few enough that the device's queue does not fill up */
    double calls[ROUNDS];
    double bare[ROUNDS];
    tiny t;
    tk_status status = make_tiny(g->ctx, contract, types, &t);
    for (int round = -1; round < ROUNDS && status == TK_OK; round++) {
        const int at = round < 0 ? 0 : round; /* the one before the first only warms up */
        status = tk_ctx_synchronize(g->ctx);
        double begin = tki_now();
        for (int i = 0; i < IN_A_ROW && status == TK_OK; i++)
            status = tk_run(g->ctx, &t.c, t.buffers);
        calls[at] = (tki_now() - begin) / IN_A_ROW;
        if (status == TK_OK)
            status = tk_ctx_synchronize(g->ctx);
        begin = tki_now();
        for (int i = 0; i < IN_A_ROW && status == TK_OK; i++)
            status = launch_nothing(g);
        bare[at] = (tki_now() - begin) / IN_A_ROW;
    }
    if (status == TK_OK)
        status = tk_ctx_synchronize(g->ctx);
    tki_gpu_free(g->ctx->gpu, t.memory);
    if (status == TK_OK)
        *overhead = (bench_gpu_overhead){bench_median(calls, ROUNDS), bench_median(bare, ROUNDS)};
    return status == TK_OK;
}

static tk_status time_first_use(tk_ctx *ctx, const char *device, const tk_contract *contract, tk_types types,
                                double *seconds)
{
    tiny t = {.memory = NULL};
    tk_status status = tk_ctx_use_device(ctx, device);
    if (status != TK_OK)
        return status;
    status = make_tiny(ctx, contract, types, &t);
    if (status == TK_OK)
        status = tk_ctx_synchronize(ctx);
    double begin = tki_now();
    if (status == TK_OK)
        status = tk_run(ctx, &t.c, t.buffers);
    if (status == TK_OK)
        status = tk_ctx_synchronize(ctx);
    *seconds = tki_now() - begin;
    tki_gpu_free(ctx->gpu, t.memory);
    return status;
}

/* A folder that is the cache of kernels until it is removed. */
typedef struct empty_cache {
    tki_scratch folder;
    char *before; /* what the variable said, or NULL */
} empty_cache;

static tk_status empty_cache_make(tk_ctx *ctx, empty_cache *cache)
{
    const char *before = getenv("TOKITAI_CACHE");
    cache->before = before ? strdup(before) : NULL;
    tk_status status = tki_scratch_make(ctx, &cache->folder);
    if (status == TK_OK && ((before && !cache->before) || setenv("TOKITAI_CACHE", cache->folder.path, 1) != 0))
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory to measure with");
    return status;
}

static void empty_cache_remove(empty_cache *cache)
{
    tki_scratch_remove(&cache->folder);
    if (cache->before)
        (void)setenv("TOKITAI_CACHE", cache->before, 1);
    else
        unsetenv("TOKITAI_CACHE");
    free(cache->before);
}

bool bench_gpu_first_use_measure(tk_ctx *ctx, const char *device, const tk_contract *contract, tk_types types,
                                 bench_gpu_first_use *first_use)
{
    empty_cache cache = {.before = NULL};
    tk_status status = empty_cache_make(ctx, &cache);
    if (status == TK_OK)
        status = time_first_use(ctx, device, contract, types, &first_use->empty_cache);
    if (status == TK_OK)
        status = time_first_use(ctx, device, contract, types, &first_use->full_cache);
    empty_cache_remove(&cache);
    return status == TK_OK;
}

/* -- Shapes --------------------------------------------------------------------------------------------------------- */

bool bench_gpu_shape_at(const tk_contract *contract, int i, int64_t dims[TK_MAX_DIMS])
{
    static const bench_listed usual[] = {
        {"gelu_", {{1 << 26}, {1 << 20}}},
        {"softmax_", {{8192, 32000}, {65536, 1024}, {4096, 128256}, {16384, 4096}}},
        {"xent", {{8192, 32000}, {4096, 128256}}},
        {"embedding_", {{32768, 1024, 50304}, {32768, 2048, 128256}}},
        {"grouped_gemm", {{131072, 1408, 2048, 64}, {131072, 2048, 1408, 64}}},
        {"linear_", {{8192, 8192, 2048}, {16384, 3072, 768}, {16384, 768, 3072}, {8192, 16384, 4096}}},
        {"gemm",
         {{4096, 4096, 1024},
          {8192, 8192, 2048},
          {8192, 4096, 4096},
          {16384, 5632, 2048},
          {8192, 32000, 1024},
          {1000, 777, 333}}},
    };
    return bench_listed_shape_at(usual, sizeof usual / sizeof *usual, 1024, contract, i, dims);
}
