/* CHOOSES. Everything that launches a kernel goes through three calls: open, call, close. Kernels that may share the caller's
 * address space run in it: ours, mutants, and functions that a program brings itself. Those of users run in a worker,
 * which the executor starts, renews and stops. */
#pragma once

#include "core/export.h"
#include "isolate/worker_process.h"
#include "model/caller.h"
#include "model/lowering.h"
#include "runtime/staging.h"
#include "tokitai_verify.h"

/* What is to be run: a user's kernel, or else a lowering, or else a function with its data. */
typedef struct tki_executable {
    const char *artifact;        /* the library with the user's kernel, which a worker loads; NULL: none */
    const tk_contract *contract; /* whose function is looked for in it */
    tki_worker_options worker_options;
    const tki_lowering *lowering; /* NULL: the function */
    tk_kernel kernel;
    void *kernel_data;
    const char *(*kernel_problem)(void *kernel_data); /* as in tk_certify_options */
    bool host_buffers;                                /* a GPU's lowering is given host memory and runs on copies */
} tki_executable;

typedef struct tki_executor {
    tki_caller caller; /* the first member: tki_executor_of() */
    tk_ctx *ctx;
    tki_executable executable;
    tki_worker *worker;   /* of a user's kernel; its own */
    tki_staging *staging; /* of a GPU's lowering with host buffers */
} tki_executor;

static inline tki_executor *tki_executor_of(tki_caller *caller)
{
    return (tki_executor *)caller;
}

/* With the statuses of tki_worker_open() where there is a worker to be started. Need not be closed if it fails. */
TKI_EXPORT TK_MUST_USE tk_status tki_executor_open(tk_ctx *ctx, const tki_executable *executable,
                                                   tki_executor *executor);

/* Runs the case once. `threads`: of a kernel on the CPU; 0: as many as the context says. A function decides for itself.
 * `seconds` may be NULL; asking for it makes the call wait for a GPU. Fails with what the kernel reported; the case has
 * been checked by the caller. */
TKI_EXPORT TK_MUST_USE tk_status tki_executor_call(tki_executor *executor, const tk_case *c, void *const buffers[],
                                                   int threads, double *seconds);

TKI_EXPORT void tki_executor_close(tki_executor *executor);

/* ------------------------------------------------------------------------------------------------------------
 * Of a user's kernel alone
 * ------------------------------------------------------------------------------------------------------------ */

/* A fresh process in place of the present one: what the kernel has kept is gone. `guarded`: what it allocates from now
 * on ends at a page that is not accessible, and holds noise. Fails as tki_executor_open() does; it is to be closed
 * then. */
TKI_EXPORT TK_MUST_USE tk_status tki_executor_renew(tki_executor *executor, bool guarded);

/* Starts the process of the next tki_executor_renew() and waits for nothing, so that it is there by then. */
TKI_EXPORT void tki_executor_prepare(tki_executor *executor, bool guarded);

/* What shuts the kernel in, and what could not be set up; valid until it is closed. */
TKI_EXPORT const tki_confinement *tki_executor_confinement(const tki_executor *executor);

/* What loading the kernel left of its process, where that did not refute it; valid until it is closed. */
TKI_EXPORT const tki_process_state *tki_executor_loading(const tki_executor *executor);

/* Of an instrumented kernel, after its last call: has gcov's counters written to the coverage memory. */
TKI_EXPORT TK_MUST_USE tk_status tki_executor_end_coverage(tki_executor *executor);

/* Under compute-sanitizer: ends the process, waits for all that the tool has to say of every call, and gives it as it
 * was printed; valid until it is closed. The next call starts another process. */
TKI_EXPORT const char *tki_executor_sanitizer_log(tki_executor *executor);
