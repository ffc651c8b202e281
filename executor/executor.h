/* Everything that launches a kernel goes through three calls: open, call, close. Kernels that may share the caller's address space
 * run in it: ours, mutants, and functions that a program brings itself. Those of users run in a worker. */
#ifndef TKI_EXECUTOR_EXECUTOR_H
#define TKI_EXECUTOR_EXECUTOR_H

#include "core/export.h"
#include "model/lowering.h"
#include "executor/staging.h"
#include "executor/worker.h"
#include "tokitai_verify.h"

/* What is to be run: a worker's kernel, or else a lowering, or else a function with its data. */
typedef struct tki_executable {
    tki_worker *worker;           /* the caller's, who opened it and closes it; NULL: none */
    const tki_lowering *lowering; /* NULL: the function */
    tk_kernel kernel;
    void *kernel_data;
    bool host_buffers; /* a GPU's lowering is given host memory and runs on copies */
} tki_executable;

typedef struct tki_executor {
    tk_ctx *ctx;
    tki_executable executable;
    tki_staging *staging; /* of a GPU's lowering with host buffers */
    tki_overrun overrun;  /* what the last call changed beside its outputs */
} tki_executor;

TKI_EXPORT TK_MUST_USE tk_status tki_executor_open(tk_ctx *ctx, const tki_executable *executable,
                                                   tki_executor *executor);

/* Runs the case once. `threads`: of a kernel on the CPU; 0: as many as the context says. A function decides for itself.
 * `seconds` may be NULL; asking for it makes the call wait for a GPU. Fails with what the kernel reported; the case has
 * been checked by the caller. */
TKI_EXPORT TK_MUST_USE tk_status tki_executor_call(tki_executor *executor, const tk_case *c, void *const buffers[],
                                                   int threads, double *seconds);

TKI_EXPORT void tki_executor_close(tki_executor *executor);

#endif
