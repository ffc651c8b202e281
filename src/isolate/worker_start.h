/* CHOOSES. What the program tokitai-worker and the process that starts it agree on, beside the frames of wire.h. */
#pragma once

#include <stdint.h>

/* argv[1] of the program; a parent of another version gets the exit status TKI_WORKER_WRONG_VERSION. */
#define TKI_WORKER_VERSION "TKW3"
enum { TKI_WORKER_WRONG_VERSION = 64, TKI_WORKER_DESCRIPTORS = 4096 /* that foreign code may open */ };

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

/* How a library left its process when it had been loaded, or a kernel when it had returned: the text of a worker's replies that say so. The
 * parent knows how it should be. */
typedef struct tki_process_state {
    uint64_t float_mode; /* core/float_mode.h */
    uint32_t changed;    /* TKI_CHANGED_... (core/fault.h) */
    int32_t signal;      /* the first whose handler is another one */
} tki_process_state;

_Static_assert(sizeof(tki_process_state) == 16, "no holes: it is sent as it is");

/* Bits of a call's random number. */
#define TKI_NONCE_SET (UINT64_C(1) << 63)       /* which addresses the buffers have */
#define TKI_NONCE_AS_LOADED (UINT64_C(1) << 62) /* it begins in the floating-point mode that loading has left */

/* What shuts foreign code in, as the worker's process says before it loads any: a record for each means, in the order in which they were
 * tried. Decisions read these; isolate/confinement.c makes sentences of them. What is missing, or not known here, counts as weak. */
typedef enum tki_by {
    TKI_BY_NO_NEW_PRIVILEGES = 1,
    TKI_BY_FIRST_TO_END, /* when the machine has no memory left */
    TKI_BY_GROUP,        /* a control group: TKI_HOLDS_... */
    TKI_BY_USER,         /* namespaces */
    TKI_BY_NETWORK,
    TKI_BY_IPC,
    TKI_BY_PIDS,
    TKI_BY_MOUNTS,  /* TKI_OWN_TREE, TKI_READ_ONLY */
    TKI_BY_TREE,    /* only if it could not be made */
    TKI_BY_PROC,    /* its own */
    TKI_BY_SCRATCH, /* in memory */
    TKI_BY_CAPABILITIES,
    TKI_BY_LIMITS,   /* number: bytes of a file; TKI_LIMITS_... */
    TKI_BY_MEMORY,   /* number: bytes; TKI_NO_LIMIT */
    TKI_BY_TASKS,    /* number; TKI_NO_LIMIT */
    TKI_BY_LANDLOCK, /* number: its version; TKI_KEEPS_... */
    TKI_BY_SECCOMP,  /* TKI_FOR_... */
    TKI_BY_STRENGTH, /* TKI_KEEPS_FILES, ...: the sum of all */
    TKI_BY_OUTER, /* what stands before is compute-sanitizer's process, and what follows the kernel's; number: the tool, by the parent */
    TKI_BY_END
} tki_by;

enum { TKI_HOLDS_TASKS = 1, TKI_HOLDS_MEMORY = 2 };
enum { TKI_OWN_TREE = 1, TKI_READ_ONLY = 2 };
enum { TKI_LIMITS_ADDRESSES = 1, TKI_LIMITS_TIME = 2 };
enum { TKI_NO_LIMIT = 1 };
enum { TKI_KEEPS_TCP = 1, TKI_KEEPS_SIGNALS = 2 };
enum { TKI_FOR_KERNELS = 1, TKI_FOR_COMPILERS = 2, TKI_FOR_SANITIZER = 4 };
/* Nothing foreign is run without all three but with leave. */
enum { TKI_KEEPS_FILES = 1, TKI_FILTERS_CALLS = 2, TKI_GIVES_UP_PRIVILEGES = 4, TKI_STRONG = 7 };

enum { TKI_MOST_MEANS = 64, TKI_LEFT_OUT = -1 };

typedef struct tki_means {
    uint16_t by;   /* tki_by */
    uint16_t with; /* bits */
    int32_t error; /* 0: it was set up; an errno, or TKI_LEFT_OUT */
    int64_t number;
} tki_means;

_Static_assert(sizeof(tki_means) == 16, "no holes: it is sent as it is");

typedef struct tki_confinement {
    int count; /* 0: no worker was started */
    tki_means means[TKI_MOST_MEANS];
} tki_confinement;
