/* CHOOSES. The backends, one row each. Whatever depends on the backend is a member of its row, so that nobody else compares
 * names. A row is found once, by tki_backend_find(), where a name comes from outside. */
#pragma once

#include "core/export.h"
#include "model/lowering.h"

/* What the ending of a kernel file says. */
typedef struct tki_language {
    const tki_backend *backend;
    const char *ending;        /* ".cu" */
    const char *compiler;      /* its usual name; NULL: a shared library, which is taken as it is */
    const char *flags;         /* where none are asked for */
    const char *always, *last; /* before and behind the file's name: what makes a shared library of it */
    const char *text;          /* ending of a preprocessed file, ".i"; NULL: its compiler takes none */
} tki_language;

typedef struct tki_vendor tki_vendor; /* drivers/driver.h */

struct tki_backend {
    const char *name;         /* "cuda": in ids, in the names of devices and in certificates */
    const char *title;        /* "CUDA", in sentences */
    const char *maker;        /* whose devices it is for, in sentences; NULL: anybody's */
    const tki_vendor *vendor; /* its driver; NULL if none is needed */
    bool is_gpu;
    /* Kernel files */
    const tki_language *languages; /* the first is the one of a new kernel; the last has no ending */
    const char *header;            /* that a kernel file in the first language includes; NULL: none */
    /* Options of its compiler that name an architecture, up to NULL, one of which is added; NULL: none is */
    const char *const *architecture_options;
    bool has_sanitizer; /* compute-sanitizer can watch it */
    /* Instrumented builds of kernel files */
    const char *no_coverage; /* why there are none; NULL: there are */
    const char *callbacks;   /* flags that report what runs */
    const char *lighter;  /* more, which keep comparisons and lines as they stand in the source, and compile faster */
    const char *counters; /* more, for gcov */
    const char *gcc_lines;     /* more of GCC alone, by which no line goes uncounted; may be NULL */
    const char *host_compiler; /* which its compiler leaves the host's code to; NULL: it does all itself */
};

/* Positions in the table, for those who write a row of their own down. */
enum { TKI_CPU, TKI_CUDA, TKI_HIP, TKI_BACKENDS };

extern const tki_backend tki_backends[TKI_BACKENDS];

/* The backend whose name the text has up to its end or to the first of these characters: "cuda:1" and ":",
 * "cuda.gemm.f16.shared" and "."; NULL if there is none. `text` may be NULL. */
TKI_EXPORT const tki_backend *tki_backend_find(const char *text, const char *end);

/* Has this architecture, "sm_90" or "gfx942:sramecc+", the matrix units that kernels/device_mma.h works with? */
bool tki_has_matrix_units(const char *architecture);

/* What this context works on. */
TKI_EXPORT const tki_backend *tki_ctx_backend(const tk_ctx *ctx);
