/* SHOWS. The machine's limits as arms beside kernels and peers. */
#pragma once

#include "bench/bench.h"
#include "bench/isa/machine.h"

/* What the op must read and write at least; returns the bytes in all. */
double bench_traffic_of(const bench_work *work, bench_traffic *traffic);

/* Seconds on a clock that only goes forward, or of processor time that the calling thread has used. */
double bench_now(bool processor_time);

/* The i-th limit: non-temporal copy, copy (in this order, so that the next arm does not find its output put out of the
 * caches) and, where there are operations to count, multiply-add. False past the last. */
bool bench_limit_attach(const bench_work *work, int i, double flops, bench_arm *arm);
