/* CHOOSES. The second build of a kernel file, which says what it runs. It is foreign code as the first one is, compiled and run in the
 * same confinement, and nothing that it says is believed: docs/worker.md. */
#pragma once

#include <pthread.h>

#include "kernel_file/covered_lines.h"
#include "kernel_file/source_constants.h"
#include "runtime/kernel_runner.h"
#include "tokitai_verify.h"

typedef struct tki_instrumented {
    pthread_mutex_t lock;
    bool tried, scanned;
    tki_worker_build build;
    bool counts_lines; /* gcov's part was compiled in, too */
    char problem[512]; /* why there is no such build, or "" */
    char no_lines[256];
    tki_dictionary dictionary; /* of the kernel, once it was scanned */
} tki_instrumented;

/* NULL when memory ran out. */
tki_instrumented *tki_instrumented_create(void);
void tki_instrumented_close(tki_instrumented *instrumented); /* NULL is fine */

/* Compiles it if nobody has yet. "", or why there is nothing to run. */
const char *tki_instrumented_build(tk_ctx *ctx, const tk_kernel_file *kernel);

/* Opens an runner whose kernel writes to `coverage`. Statuses are those of tki_runner_open(). */
TK_MUST_USE tk_status tki_instrumented_start(tk_ctx *ctx, const tk_kernel_file *kernel, const tk_contract *contract,
                                             const tki_coverage *coverage, tki_runner *runner);

/* Which lines of the kernel's file ran, by the counters in `coverage`. False if that cannot be said; *why tells. */
TK_MUST_USE bool tki_instrumented_lines(tk_ctx *ctx, const tk_kernel_file *kernel, const tki_coverage *coverage,
                                        tki_lines *lines, char *why, size_t size);
