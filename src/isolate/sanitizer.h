/* CHOOSES. NVIDIA's compute-sanitizer around a worker: it sees races in shared memory, reads and writes outside what was allocated, reads of memory
 * that nobody wrote, and barriers that not all threads reach. It starts the worker program as its child and loads a library into it; it
 * tells what it found when that child has ended. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/export.h"

typedef enum tki_sanitizer_tool {
    TKI_SANITIZER_NONE,
    TKI_SANITIZER_MEMCHECK,
    TKI_SANITIZER_RACECHECK,
    TKI_SANITIZER_INITCHECK,
    TKI_SANITIZER_SYNCCHECK,
    TKI_SANITIZER_TOOLS
} tki_sanitizer_tool;

TKI_EXPORT const char *tki_sanitizer_name(tki_sanitizer_tool tool); /* "memcheck" */

/* On the PATH, in $CUDA_HOME or $CUDA_PATH, or in a toolkit's usual folder. */
TKI_EXPORT bool tki_sanitizer_find(char *path, size_t size);

/* "2025.3.1.0", "" if it does not tell. */
TKI_EXPORT void tki_sanitizer_version(char *version, size_t size);

/* What kind of mistake a record tells of, the clauses' order of gravity. */
typedef enum tki_sanitizer_kind {
    TKI_SANITIZER_NOTHING,
    TKI_SANITIZER_STRAY_READ,
    TKI_SANITIZER_STRAY_WRITE,
    TKI_SANITIZER_RACE,
    TKI_SANITIZER_UNINITIALISED,
    TKI_SANITIZER_UNWRITTEN, /* an output that was copied back before anything had written it */
    TKI_SANITIZER_BARRIER,
    TKI_SANITIZER_OTHER
} tki_sanitizer_kind;

typedef struct tki_sanitizer_report {
    tki_sanitizer_kind kind; /* of the first finding */
    char text[480];          /* it, in one line */
    int findings;            /* as it counts them */
    bool complete;           /* it has watched to the end; else `problem` says why not */
    char problem[240];
} tki_sanitizer_report;

/* Reads what it printed, which comes from a process that shared its memory with the kernel; texts are as they came. */
TKI_EXPORT void tki_sanitizer_read(const char *log, tki_sanitizer_report *report);

/* For worker_process.c. */
struct tki_child;
struct tki_strings;
/* Adds what the worker program is told; false if it is not here. */
bool tki_sanitizer_arguments(tki_sanitizer_tool tool, struct tki_strings *arguments);
/* Lets the child end by itself and adds what it printed to *log. */
void tki_sanitizer_finish(struct tki_child *child, char **log);
