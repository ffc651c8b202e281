/* SHOWS. Timing on a GPU by the device's own events, around a few calls that were queued while it was still busy with something else. */
#pragma once

#include "bench/bench.h"
#include "runtime/kernel_runner.h"

enum { BENCH_LEAST_CALLS = 2, BENCH_MOST_CALLS = 64 /* in a sample */ };

typedef struct bench_clock {
    tk_ctx *ctx;
    void *begin, *end; /* events */
    tki_runner delay;
    tk_case delay_case;
    void *delay_vectors;
} bench_clock;

/* On the context's device. To be closed in any case. */
TK_MUST_USE tk_status bench_clock_open(tk_ctx *ctx, bench_clock *clock);
void bench_clock_close(bench_clock *clock);

/* Queues one call. */
typedef tk_status (*bench_queue)(void *data);

/* Seconds of one call out of a row of them. */
TK_MUST_USE tk_status bench_clock_sample(bench_clock *clock, int64_t calls, bench_queue queue, void *data,
                                         double *seconds);

int64_t bench_calls_of_a_sample(double seconds_of_a_call);
