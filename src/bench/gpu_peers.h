/* SHOWS. PyTorch, torch.compile and Triton on a GPU: one Python process beside this one, kept open and asked line by line, so that its
 * arms are timed in turn with ours. bench/peers/gpu.py is the other end. */
#pragma once

#include "bench/bench.h"

typedef struct bench_gpu_peers bench_gpu_peers;

enum { BENCH_GPU_PEER_ARMS = 8, BENCH_GPU_PEER_NAME = 32 };

/* NULL if there are none; `found` tells which there are, or why not. `list` as in bench_options. */
bench_gpu_peers *bench_gpu_peers_open(int ordinal, const char *list, char *found, size_t size);
void bench_gpu_peers_close(bench_gpu_peers *peers); /* NULL is fine */

/* Makes tensors of that case and returns how many arms there are for it. `rotate` is how many bytes the copies of a case should
 * come to. */
int bench_gpu_peers_case(bench_gpu_peers *peers, const tk_case *c, bench_indices indices, int64_t rotate,
                         char names[BENCH_GPU_PEER_ARMS][BENCH_GPU_PEER_NAME]);

/* Seconds of one of `calls` calls in a row; false if it failed. */
bool bench_gpu_peers_time(bench_gpu_peers *peers, int arm, int64_t calls, double *seconds);

/* Lets go of the tensors. */
void bench_gpu_peers_end(bench_gpu_peers *peers);
