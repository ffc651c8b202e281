/* SHOWS. The bench engine on a GPU. The context works on the device already. Each call of an arm gets the next of several copies of the
 * tensors, which together exceed the L2 cache several times, so that nobody is credited with a warm cache. Times are
 * from the device's own events around a few calls that were queued while it was still busy with something else. */
#pragma once

#include "bench/bench.h"

typedef struct bench_gpu bench_gpu;

/* Starts the peers too, unless `options` wants none. NULL when it could not be done; the context has the reason. */
TK_MUST_USE bench_gpu *bench_gpu_open(tk_ctx *ctx, const bench_options *options);
void bench_gpu_close(bench_gpu *gpu); /* NULL is fine */

/* "NVIDIA H200, sm_90, driver 580.65, 132 multiprocessors, L2 60 MB" */
const char *bench_gpu_device(const bench_gpu *gpu);
/* The names of the peers; NULL past the end. */
const char *bench_gpu_peer_at(int i);
/* What was found of the peers, or why they are not there: first those in Python. */
const char *bench_gpu_peers_found(const bench_gpu *gpu);
const char *bench_gpu_cublaslt_found(const bench_gpu *gpu); /* empty if it was not asked for */

typedef struct bench_gpu_limits {
    double copy;   /* bytes read and written per second by a large copy within the device */
    double launch; /* seconds that each of many empty launches in a row takes */
} bench_gpu_limits;

TK_MUST_USE bool bench_gpu_limits_measure(bench_gpu *gpu, bench_gpu_limits *limits);

/* As bench_measure(): lowerings, a copy of as many bytes as the op must move, an empty launch and the peers, in turn. The limit
 * of a memory-bound op is the copy's median; a product has none. Ratios are of medians. */
TK_MUST_USE bool bench_gpu_measure(bench_gpu *gpu, const tk_case *c, const char *const lowerings[], int count,
                                   const bench_options *options, bench_result *result);

/* The i-th shape that is timed when none is given; false past the end. */
bool bench_gpu_shape_at(const tk_contract *contract, int i, int64_t dims[TK_MAX_DIMS]);

/* What a small call costs the processor, by its own clock: tk_run() on a tiny case, and a bare launch. Seconds, medians. */
typedef struct bench_gpu_overhead {
    double call, bare;
} bench_gpu_overhead;

TK_MUST_USE bool bench_gpu_overhead_measure(bench_gpu *gpu, const tk_contract *contract, tk_types types,
                                            bench_gpu_overhead *overhead);

/* The first call of an op after its device was opened, until its result is there: with nothing in the cache of kernels, and with
 * its kernel in it. That cache is a folder under TMPDIR, not the user's: TOKITAI_CACHE is set meanwhile. `device` as for
 * tk_ctx_use_device(); opening it is not counted. */
typedef struct bench_gpu_first_use {
    double empty_cache, full_cache; /* seconds */
} bench_gpu_first_use;

TK_MUST_USE bool bench_gpu_first_use_measure(tk_ctx *ctx, const char *device, const tk_contract *contract,
                                             tk_types types, bench_gpu_first_use *first_use);
