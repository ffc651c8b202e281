/* CHOOSES. Everything that launches a kernel goes through three calls: open, call, close. Kernels that may share the caller's
 * address space run in it: ours, mutants, and functions that a program brings itself. Those of users run in a worker,
 * which the runner starts, renews and stops. */
#pragma once

#include "core/export.h"
#include "isolate/worker_process.h"
#include "model/caller.h"
#include "model/lowering.h"
#include "runtime/staging.h"
#include "tokitai_verify.h"

/* What is to be run: a user kernel, or else a lowering, or else a function with its data. */
typedef struct tki_runnable {
    const char *artifact;        /* the library with the user kernel, which a worker loads; NULL: none */
    const tk_contract *contract; /* whose function is looked for in it */
    tki_worker_options worker_options;
    const tki_lowering *lowering; /* NULL: the function */
    tk_kernel kernel;
    void *kernel_data;
    const char *(*kernel_problem)(void *kernel_data); /* as in tk_certify_options */
    bool host_buffers;                                /* a GPU's lowering is given host memory and runs on copies */
} tki_runnable;

typedef struct tki_runner {
    tki_caller caller; /* the first member: tki_runner_of() */
    tk_ctx *ctx;
    tki_runnable executable;
    tki_worker *worker;   /* of a user kernel; its own */
    tki_staging *staging; /* of a GPU's lowering with host buffers */
} tki_runner;

static inline tki_runner *tki_runner_of(tki_caller *caller)
{
    return (tki_runner *)caller;
}

/* With the statuses of tki_worker_open() where there is a worker to be started. Need not be closed if it fails. */
TKI_EXPORT TK_MUST_USE tk_status tki_runner_open(tk_ctx *ctx, const tki_runnable *executable, tki_runner *runner);

/* Runs the case once. `threads`: of a kernel on the CPU; 0: as many as the context says. A function decides for itself.
 * `seconds` may be NULL; asking for it makes the call wait for a GPU. Fails with what the kernel reported; the case has
 * been checked by the caller. */
TKI_EXPORT TK_MUST_USE tk_status tki_runner_call(tki_runner *runner, const tk_case *c, void *const buffers[],
                                                 int threads, double *seconds);

TKI_EXPORT void tki_runner_close(tki_runner *runner);

/* ------------------------------------------------------------------------------------------------------------
 * Of a user kernel alone
 * ------------------------------------------------------------------------------------------------------------ */

/* A fresh process in place of the present one: what the kernel has kept is gone. `guarded`: what it allocates from now
 * on ends at a page that is not accessible, and holds noise. Fails as tki_runner_open() does; it is to be closed
 * then. */
TKI_EXPORT TK_MUST_USE tk_status tki_runner_renew(tki_runner *runner, bool guarded);

/* Starts the process of the next tki_runner_renew() and waits for nothing, so that it is there by then. */
TKI_EXPORT void tki_runner_prepare(tki_runner *runner, bool guarded);

/* Of its present process. */
TKI_EXPORT tki_age tki_runner_age(const tki_runner *runner);

/* What shuts the kernel in, and what could not be set up; valid until it is closed. */
TKI_EXPORT const tki_confinement *tki_runner_confinement(const tki_runner *runner);

/* What loading the kernel left of its process, where that did not refute it; valid until it is closed. */
TKI_EXPORT const tki_process_state *tki_runner_loading(const tki_runner *runner);

/* Of an instrumented kernel, after its last call: has gcov's counters written to the coverage memory. */
TKI_EXPORT TK_MUST_USE tk_status tki_runner_end_coverage(tki_runner *runner);

/* Under compute-sanitizer: ends the process, waits for all that the tool has to say of every call, and gives it as it
 * was printed; valid until it is closed. The next call starts another process. */
TKI_EXPORT const char *tki_runner_sanitizer_log(tki_runner *runner);
