/* SHOWS. Copies of all tensors of a case in device memory, taken in turn: together they exceed the L2 cache several times, so that nobody is
 * credited with a warm cache. */
#pragma once

#include "bench/bench.h"

typedef struct bench_copies {
    bench_work work; /* its buffers are those of the copy that comes next */
    char *first;
    int64_t offsets[TK_MAX_PARAMS];
    int64_t stride; /* bytes from one copy to the next */
    char *sink;     /* as much room as half of the traffic, for a copy to write to; NULL: none */
    int64_t sink_stride;
    int count;
    int next;
} bench_copies;

/* `sink_bytes` for each of them. Inputs as bench_draw_values() gives them, outputs poisoned. To be freed in any case. */
TK_MUST_USE tk_status bench_copies_make(tk_ctx *ctx, const tk_case *c, bench_indices indices, int64_t sink_bytes,
                                        bench_copies *copies);
void bench_copies_free(bench_copies *copies);
void bench_copies_next(bench_copies *copies);

/* Other values for the first of them, which comes next then. */
typedef void (*bench_draw)(const tk_case *c, int param, void *values, int64_t count);
TK_MUST_USE tk_status bench_copies_refill(bench_copies *copies, bench_draw draw);

/* Bytes that copies should come to at least on this context's device. */
int64_t bench_rotated_bytes(const tk_ctx *ctx);
