/* SHOWS. cuBLASLt on a CUDA device, in this process and on the tensors of a case. It is loaded at run time; building needs no header of
 * CUDA. It offers several algorithms for a product; whoever times them decides which is the best. */
#pragma once

#include "bench/bench.h"

typedef struct bench_cublaslt bench_cublaslt;

/* NULL if it is not here; `found` tells its version and path, or why not. */
bench_cublaslt *bench_cublaslt_open(tk_ctx *ctx, char *found, size_t size);
void bench_cublaslt_close(bench_cublaslt *lt); /* NULL is fine */

/* How many algorithms there are for this case, until the next one is asked for. None unless it is a product of 16-bit factors or a linear
 * layer. Buffers have to be 256-byte aligned. `fused`: gelu, or its derivative, is part of the call; else it is left to whoever calls: of
 * linear_fwd what gelu reads is in `pre` then, of linear_grad_x what is to be multiplied by the derivative in `grad_x`. */
int bench_cublaslt_case(bench_cublaslt *lt, const bench_work *work, bool fused);

/* Queues one call on the buffers that `work` has now; false if it failed. */
TK_MUST_USE bool bench_cublaslt_call(bench_cublaslt *lt, const bench_work *work, int chosen);
