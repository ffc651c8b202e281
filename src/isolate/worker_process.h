/* CHOOSES. The parent's side of a worker: a process of its own, freshly executed and shut in, that alone loads a user kernel. Whatever the
 * kernel does, each call here returns within its deadline, and closing leaves no process, file or shared memory behind.
 *
 * Host memory is given and host memory comes back, on every backend. Nothing that the worker says is believed: outputs are judged
 * as copies out of memory that nobody can write any more, time is taken by this process. docs/worker.md says what is confined. */
#pragma once

#include "core/export.h"
#include "core/fault.h"
#include "core/scratch.h"
#include "drivers/backend.h"
#include "isolate/confinement.h"
#include "isolate/coverage.h"
#include "isolate/sanitizer.h"
#include "isolate/worker_start.h"

/* Zero or NULL stands for the default. */
typedef struct tki_worker_options {
    const tki_backend *backend;   /* the CPU */
    int device;                   /* which of the backend's devices */
    double call_seconds;          /* deadline of one call; 60 */
    double start_seconds;         /* of starting, loading and opening the device; 60 */
    double cpu_seconds;           /* processor time of the worker's whole life; no limit */
    const char *const *readable;  /* further files and folders that the kernel may read, up to NULL */
    tki_sanitizer_tool sanitizer; /* of compute-sanitizer, under which it runs; 0: none. CUDA alone */
    tki_worker_terms terms;
    unsigned without;             /* TKI_CONFINE_... (sandbox.h) that are not to be set up: for tests */
    const tki_coverage *coverage; /* where an instrumented kernel writes what it runs; must outlive the worker */
    bool admits_flushing; /* loading may set the flushing of subnormal numbers; half of the calls begin so then */
} tki_worker_options;

/* ------------------------------------------------------------------------------------------------------------
 * Compiling
 * ------------------------------------------------------------------------------------------------------------ */

/* NULL, and TK_BAD_ARGUMENT's message in the context, which may be NULL, if the ending is none of these. */
TKI_EXPORT const tki_language *tki_language_of(tk_ctx *ctx, const char *file);

/* The path of the compiler that will run: of one named by its path, or on the PATH or in a vendor's usual folder. False: not here. */
TKI_EXPORT bool tki_language_compiler(const char *name, char *path, size_t size);

/* What a compiler prints to so many options (at most 8, up to NULL), shut in as when it compiles: nobody vouches for one that was named. free()
 * it. Statuses are those of tki_worker_compile(). */
TKI_EXPORT TK_MUST_USE tk_status tki_language_ask(tk_ctx *ctx, const char *compiler, const char *const options[],
                                                  const tki_worker_terms *terms, char **said);

/* The flags in effect: `asked`, or the language's own; and for nvcc, unless they name one, the architecture of that device if the compiler
 * knows it, so that its tensor cores can be used. `compiler` as asked for; NULL: the usual one. free() them; NULL when memory ran out. Of a
 * language that has a compiler. */
TKI_EXPORT char *tki_language_flags(tk_ctx *ctx, const tki_language *language, const char *compiler,
                                    const char *asked, int device, const tki_worker_terms *terms);

/* When all is compiled, as the preprocessor writes it. */
#define TKI_FIXED_DATE "Jan  1 2000"
#define TKI_FIXED_TIME "00:00:00"
#define TKI_FIXED_STAMP "Sat Jan  1 00:00:00 2000"
#define TKI_FIXED_EPOCH "946684800"

/* What the compiler finds a source's folder under, in the folder in which it runs. */
#define TKI_SOURCE_LINK "source"

typedef struct tki_worker_source {
    const char *file;
    const char *shown; /* its name in messages; NULL: the same */
    const char *
        compiler; /* a path or a name on the PATH; NULL: by the file's ending, .c cc, .cpp c++, .cu nvcc, .hip hipcc */
    const char *flags;      /* separated by spaces; NULL: the language's own. What makes a shared library is added */
    const char *more_flags; /* behind those; NULL: none */
    const char *object;     /* an object file that is linked in, too; NULL: none */
    const tki_language *language; /* NULL: by the file's ending */
    const char *folder;           /* whose name the text has as TKI_SOURCE_LINK; NULL: none */
    bool preprocess;              /* a text is made of it, and no library */
    const char *const *includes;  /* folders of headers, up to NULL; NULL: none */
    double seconds;               /* 0: 300 */
    const char *const *readable;  /* further files and folders that the compiler may read, up to NULL */
    tki_worker_terms terms;
    unsigned without; /* TKI_CONFINE_...: for tests */
} tki_worker_source;

/* What came of it. Zeroed before; tki_worker_build_close() frees it whether or not the build succeeded. */
typedef struct tki_worker_build {
    tki_scratch scratch;          /* removed on closing */
    char artifact[PATH_MAX + 16]; /* the shared library in it, or the text; "" if the compiler made no text */
    char *command;                /* what was run, for people */
    char *log;                    /* what the compiler printed */
    tki_confinement confinement;  /* of the compiler */
} tki_worker_build;

/* Compiles inside the sandbox: nothing but system folders, the file, `includes` and `readable` can be read, nothing but the scratch
 * folder be written, and there is no network. TK_UNAVAILABLE: no such compiler, or no worker program; TK_BAD_FILE: the compiler
 * rejected it, see build->log; TK_TIMEOUT. Date and time are the same for all. A file that ends in .so is taken as it is: build->artifact is its path. */
TKI_EXPORT TK_MUST_USE tk_status tki_worker_compile(tk_ctx *ctx, const tki_worker_source *source,
                                                    tki_worker_build *build);
TKI_EXPORT void tki_worker_build_close(tki_worker_build *build);

/* Runs a program (its path, then its arguments, up to NULL) on the files of a folder, shut in as compilers are. *output: what it printed;
 * free() it. Statuses are those of tki_worker_compile(). */
TKI_EXPORT TK_MUST_USE tk_status tki_worker_tool(tk_ctx *ctx, const tki_scratch *folder, const char *const command[],
                                                 const char *const readable[], double seconds,
                                                 const tki_worker_terms *terms, char **output);

/* ------------------------------------------------------------------------------------------------------------
 * Running: by way of the runner, which owns its worker
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct tki_worker tki_worker;

/* Starts a worker, loads the artifact and finds tokitai_OP in it. `options` may be NULL. TK_UNAVAILABLE: no worker program, or no such
 * device; TK_BAD_FILE: the library cannot be loaded or has no such function (the message lists those that it has);
 * TK_KERNEL_FAULT, TK_TIMEOUT: the library's own initialisation crashed, did not end, or changed the thread's mode or the process. */
TK_MUST_USE tk_status tki_worker_open(tk_ctx *ctx, const char *artifact, const tk_contract *contract,
                                      const tki_worker_options *options, tki_worker **worker);
void tki_worker_close(tki_worker *worker); /* NULL is fine */

/* A fresh process in place of the present one: what the kernel has kept is gone. `guarded`: what it allocates from now on ends at a page
 * that is not accessible, and holds noise. Fails as tki_worker_open does; the worker is to be closed then. */
TK_MUST_USE tk_status tki_worker_renew(tki_worker *worker, bool guarded);
/* Starts the process of the next tki_worker_renew and waits for nothing, so that it is there by then. */
void tki_worker_prepare(tki_worker *worker, bool guarded);

/* Runs the case once on copies of the buffers, at the same offsets in their pages; parameters at one address share one copy. Outputs,
 * and on a GPU inputs too, then hold what the kernel left in its copy; on the CPU the copies of inputs cannot be written. If the
 * call fails no buffer has changed. `threads`: how many the kernel is to use, at least 1. `seconds` may be NULL. `overrun`: the first byte
 * beside a buffer that changed.
 *   TK_UNSUPPORTED    the kernel returned a number other than 0: it does not take this case; or the worker ran out of memory
 *   TK_KERNEL_FAULT   crash, exit, device fault, write to an input, output still mapped after the return, forged reply ...
 *   TK_TIMEOUT        no reply within call_seconds
 * After the last two the worker is broken; the next call starts another in its place. */
TK_MUST_USE tk_status tki_worker_call(tki_worker *worker, const tk_case *c, void *const buffers[], int threads,
                                      double *seconds, tki_overrun *overrun);

/* Of an instrumented kernel, after its last call: has gcov's counters written to the coverage memory. */
TK_MUST_USE tk_status tki_worker_end_coverage(tki_worker *worker);

bool tki_worker_broken(const tki_worker *worker);

/* How often the process that runs now was called, and for how long it has been there. */
typedef struct tki_age {
    int64_t calls;
    double seconds;
} tki_age;
tki_age tki_worker_age(const tki_worker *worker);

/* How loading left its process, where that was admitted; valid as long as the worker. */
const tki_process_state *tki_worker_loading(const tki_worker *worker);

/* What shuts the worker in, and what could not be set up and why, a line each; valid as long as the worker. */
const tki_confinement *tki_worker_confinement(const tki_worker *worker);

/* Of a worker under compute-sanitizer: ends its process, waits for all that the tool has to say of every call, and gives it as it was
 * printed; valid as long as the worker, which the next call starts again. */
const char *tki_worker_sanitizer_log(tki_worker *worker);
