/* Everything that launches a kernel goes through three calls: open, call, close. This is the in-process executor, for
 * kernels that may share the caller's address space: ours, mutants, and functions that a program brings itself. */
#ifndef TKI_EXECUTOR_EXECUTOR_H
#define TKI_EXECUTOR_EXECUTOR_H

#include "core/lowering.h"

/* What is to be run: a lowering, or a function with its data. */
typedef struct tki_executable {
    const tki_lowering *lowering; /* NULL: the function */
    tk_kernel kernel;
    void *kernel_data;
} tki_executable;

typedef struct tki_executor {
    tk_ctx *ctx;
    tki_executable executable;
} tki_executor;

TK_MUST_USE tk_status tki_executor_open(tk_ctx *ctx, const tki_executable *executable, tki_executor *executor);

/* Runs the case once. `seconds` may be NULL. Fails with what the kernel reported; the case has been checked by the caller. */
TK_MUST_USE tk_status tki_executor_call(tki_executor *executor, const tk_case *c, void *const buffers[],
                                        double *seconds);

void tki_executor_close(tki_executor *executor);

#endif
