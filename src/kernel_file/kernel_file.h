/* CHOOSES. A kernel that comes as a file: compiled once, known by its hashes, run in workers. */
#pragma once

#include "core/hash.h"
#include "runtime/kernel_runner.h"
#include "kernel_file/instrumented_build.h"
#include "kernel_file/kernel_copy.h"

struct tk_kernel_file {
    char *path;    /* as given: a name for people, which is opened once, to be copied */
    char name[80]; /* of the file without its ending, in letters that an id may have */
    const tki_backend *backend;
    int device;         /* which of the backend's */
    bool is_library;    /* it was given compiled */
    bool library_alone; /* what is judged is what was made, whatever its source asks */
    bool plain;         /* the loops of a definition, and no file of a user */
    char *compiler;     /* as asked for, or NULL */
    char *flags;        /* as asked for, or NULL */
    char *
        options; /* the flags in effect; what makes a shared library is added in any case. NULL: it was given compiled */
    char version[256]; /* what the compiler calls itself */
    double call_seconds;
    tki_worker_terms terms;
    char *include; /* folders of headers as given, separated by colons, or NULL */
    tki_kernel_copy copy;
    char *text; /* the preprocessed source in the copy, of which builds are made; NULL: there is none */
    char text_hash[TKI_HASH_HEX];     /* "" if there is none */
    unsigned uses;                    /* what its source asks of where and when it is compiled: bits 1 << tki_use */
    tki_worker_build build;           /* its log and its confinement; the library that it made is copied, too */
    char *artifact;                   /* the library that is loaded, NULL if there is none */
    char problem[1024];               /* why there is nothing to run, or "" */
    bool unavailable;                 /* the problem is what this system lacks */
    char artifact_hash[TKI_HASH_HEX]; /* "" if there is none */
    char defined[8192];               /* the ops whose functions it has, as tki_exported_ops() lists them */
    tki_instrumented *instrumented;   /* its second build, made when it is first wanted */
};

/* Opens an runner with the op's function. Statuses are those of tki_runner_open(); closing does no harm if it
 * failed. `flushing`: loading may set the flushing of subnormal numbers. */
TK_MUST_USE tk_status tki_kernel_file_start(tk_ctx *ctx, const tk_kernel_file *kernel, const tk_contract *contract,
                                            bool flushing, tki_runner *runner);

/* The same under a tool of compute-sanitizer, a device's kernel alone; a call has longer. */
TK_MUST_USE tk_status tki_kernel_file_start_watched(tk_ctx *ctx, const tk_kernel_file *kernel,
                                                    const tk_contract *contract, tki_sanitizer_tool tool,
                                                    tki_runner *runner);

/* What all ways to run it have in common: an runner of this library, for its backend and device and in its terms. */
TK_MUST_USE tk_status tki_kernel_file_run(tk_ctx *ctx, const tk_kernel_file *kernel, const char *artifact,
                                          const tk_contract *contract, tki_worker_options options,
                                          tki_runner *runner);

/* How a copy is compiled. */
typedef struct tki_kernel_build {
    const char *more_flags; /* behind those of the kernel; NULL: none */
    bool preprocess;        /* the text alone */
    bool from_source;       /* not from the text, if there is one */
    bool watched;           /* linked with what an instrumented kernel calls */
    double seconds;
} tki_kernel_build;

/* From the text, where there is one: every build of a kernel is made of the same. `build` is closed by the caller. */
TK_MUST_USE tk_status tki_kernel_file_compile(tk_ctx *ctx, const tk_kernel_file *kernel, tki_kernel_build how,
                                              tki_worker_build *build);

/* The constants of what is judged, read when they are first wanted; valid as long as the kernel. */
const tki_dictionary *tki_kernel_file_constants(tk_ctx *ctx, const tk_kernel_file *kernel);

/* What the functions tokitai_... that an ELF shared library exports are named behind that, a blank behind each; what does not fit is left
 * out. The bytes may be anything. False if they are not such a library. */
bool tki_exported_ops(const void *image, size_t bytes, char *ops, size_t size);

/* Is the op's function, of either version, in such a list? */
bool tki_exports_op(const char *ops, const char *name);
