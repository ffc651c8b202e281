/* CHOOSES. What the program tokitai-worker and the process that starts it agree on, beside the frames of wire.h. */
#pragma once

#include <stdint.h>

/* argv[1] of the program; a parent of another version gets the exit status TKI_WORKER_WRONG_VERSION. */
#define TKI_WORKER_VERSION "TKW3"
enum { TKI_WORKER_WRONG_VERSION = 64 };

/* Descriptors that the parent leaves open, beside standard input, output and error. */
enum {
    TKI_WORKER_FRAMES = 3, /* to the process that runs foreign code */
    TKI_WORKER_CONTROL =
        4 /* to the reaper: closed by the parent, it means the end; from it comes one tki_worker_end */
};

/* How the process that ran foreign code ended. */
typedef struct tki_worker_end {
    uint32_t magic;
    int32_t wait_status; /* as waitpid() gives it */
} tki_worker_end;

/* How the last line of the report about the sandbox begins: "strong" follows, or "weak: " and what is missing. */
#define TKI_CONFINEMENT_LINE "confinement: "
/* Lines of it in which a number follows, or "none". */
#define TKI_MEMORY_LINE "limit of memory in bytes: "
#define TKI_TASKS_LINE "limit of tasks: "
