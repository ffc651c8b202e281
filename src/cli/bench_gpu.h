/* SHOWS. What cli/command_bench.c shows of a GPU, beside the results. */
#pragma once

#include <jansson.h>

#include "bench/gpu_timing.h"
#include "cli/cli.h"
#include "cli/common_arguments.h"

json_t *cli_bench_gpu_machine_json(const bench_gpu *gpu, const bench_gpu_limits *limits);

/* First use of each op's kernels from an empty and from a full cache, and the overhead of small calls. */
cli_exit cli_bench_gpu_startup(const char *who, tk_ctx *ctx, const char *device, const tk_contract *const ops[],
                               int op_count, const cli_types *types, bool json);
void cli_bench_gpu_print_startup(const json_t *report); /* its table, out of its JSON */
