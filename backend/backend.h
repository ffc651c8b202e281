/* The backends, one row each. Whatever depends on the backend is a member of its row, so that nobody else compares names. A row is
 * found once, by tki_backend_find(), where a name comes from outside. */
#ifndef TKI_BACKEND_BACKEND_H
#define TKI_BACKEND_BACKEND_H

#include "model/lowering.h"

/* What the ending of a kernel file says. */
typedef struct tki_language {
    const tki_backend *backend;
    const char *ending;        /* ".cu" */
    const char *compiler;      /* its usual name; NULL: a shared library, which is taken as it is */
    const char *flags;         /* where none are asked for */
    const char *always, *last; /* before and behind the file's name: what makes a shared library of it */
} tki_language;

struct tki_backend {
    const char *name; /* "cuda": in ids, in the names of devices and in certificates */
    bool is_gpu;
    /* Kernel files */
    const tki_language *languages; /* the first is the one of a new kernel; the last has no ending */
    const char *header;            /* that a kernel file in the first language includes; NULL: none */
};

/* Positions in the table, for those who write a row of their own down. */
enum { TKI_CPU, TKI_CUDA, TKI_HIP, TKI_BACKENDS };

extern const tki_backend tki_backends[TKI_BACKENDS];

/* The backend whose name the text has up to its end or to the first of these characters: "cuda:1" and ":", "cuda.gemm.f16.shared"
 * and "."; NULL if there is none. `text` may be NULL. */
const tki_backend *tki_backend_find(const char *text, const char *end);

#endif
