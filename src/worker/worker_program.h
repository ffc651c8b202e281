/* CHOOSES. Inside the program tokitai-worker. Three processes: the keeper, which the parent started; the reaper, first of a process namespace where
 * one can be had, which ends when the parent lets go or the third process ends, and takes all others with it; and the one that runs
 * foreign code. */
#pragma once

#include <signal.h>

#include "drivers/backend.h"
#include "isolate/wire.h"
#include "isolate/worker_start.h"
#include "worker/sandbox.h"

enum { TKI_WORKER_MOST_READABLE = 64, TKI_WORKER_MOST_HIDDEN = 2, TKI_WORKER_MOST_OPTIONS = 32 };

typedef struct tki_worker_settings {
    tki_sandbox sandbox;
    const char *artifact;
    const char *op;    /* "gelu_bwd" */
    const char *known; /* all ops, a space behind each, to say what a library without that op has */
    bool guards_heap;  /* the kernel's own allocations end at pages, and its clocks jump */
    bool bare; /* nothing of ours meets signals, and another thread calls the kernel than the one that loaded it */
    const tki_backend *backend;
    int device;
    char **compiler; /* the command to run instead; NULL: run a kernel */
    /* Under compute-sanitizer, which starts this program once more, in the process that runs the kernel. */
    const char *sanitizer; /* its path; NULL: none */
    char program[4096];    /* this program's own path, where it will be started once more; else "" */
    const char *tool;      /* of it: "memcheck" ... */
    const char *sanitizer_options[TKI_WORKER_MOST_OPTIONS + 1];
    const char *report; /* of the process that started it; NULL: this is not the program started once more */
    const char *readable[TKI_WORKER_MOST_READABLE + 1], *hidden[TKI_WORKER_MOST_HIDDEN + 1];
} tki_worker_settings;

/* Sends a frame; false if the parent is gone. `text` ends with a zero byte, or has reply->text_bytes. */
bool tki_worker_send(const tki_wire_reply *reply, const void *text);

/* Loads the kernel and serves calls until the parent closes the socket. Returns an exit status. */
int tki_worker_serve(const tki_worker_settings *settings);

/* Code and tables of the program and its libraries can no longer be written, where the system has that. */
void tki_worker_seal(void);

/* The process is named, and was started, as programs are; in its third process, before it shuts itself in. The arguments are gone then. */
void tki_worker_look(tki_worker_settings *settings, char **arguments);
/* What a bare one needs beside what the kernel may have. */
void tki_worker_bare_needs(tki_sandbox *sandbox);
/* In the second, of a process namespace: the third is not among the first numbers. */
void tki_worker_draw_number(void);

/* What is to stay as it is while foreign code runs, in the calling thread and its process; and what has changed since. */
void tki_worker_state_note(void);
void tki_worker_state_compare(tki_process_state *state);

/* ------------------------------------------------------------------------------------------------------------
 * The heap of the kernel
 * ------------------------------------------------------------------------------------------------------------ */

/* From now on blocks are guarded, as far as they fit in so many bytes of addresses. False: there is no such memory. */
bool tki_worker_heap_guard(size_t most_bytes);
bool tki_worker_heap_owns(const void *address); /* it lies among guarded blocks, or between them */
bool tki_worker_heap_is_damaged(void);          /* something was written behind a block, or freed twice */

/* ------------------------------------------------------------------------------------------------------------
 * What a kernel finds around its calls: the stack, clocks
 * ------------------------------------------------------------------------------------------------------------ */

/* Right before each call: other bytes below it, and on the stacks that its next threads get. */
void tki_worker_dirty_stacks(bool threads);

/* Before each call of a worker whose clocks jump: the time is later by more than has passed. */
void tki_worker_move_clocks(void);

/* The processor's counter, too: reading it is a signal from now on, and this answers it. False: that was not the reason. */
void tki_worker_trap_counter(void);
bool tki_worker_answers_counter(const siginfo_t *about, void *context);

/* ------------------------------------------------------------------------------------------------------------
 * Coverage of an instrumented kernel, in memory that the parent passes: before all calls, before and after each, after all
 * ------------------------------------------------------------------------------------------------------------ */

bool tki_worker_watch(const tki_worker_settings *settings, int file, void *function);
void tki_worker_watch_call(int threads);
void tki_worker_watch_pause(void);
void tki_worker_watch_end(void); /* gcov's counters, too */

/* ------------------------------------------------------------------------------------------------------------
 * The device of the worker: one context, one stream for each call
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct tki_worker_gpu tki_worker_gpu;

/* One array on its way to the device and back: an image of the buffer with its red zones. */
typedef struct tki_worker_image {
    unsigned char *host; /* shared with the parent */
    size_t bytes;
    size_t place;       /* of the buffer in the image */
    size_t array_bytes; /* of the buffer */
    bool output;
    int same_as;  /* the array whose image it shares, or -1 */
    void *device; /* of the image */
} tki_worker_image;

/* NULL, with the reason. Under a tool of compute-sanitizer (NULL: none) every array has an allocation of its own, which ends with it and is
 * new for each call, for that is what it knows the bounds of; there are no red zones then, and under initcheck outputs hold nothing. */
tki_worker_gpu *tki_worker_gpu_open(const tki_backend *backend, int device, const char *tool, char *reason,
                                    size_t size);

/* Uploads, before the parent's clock starts. Fills in `device` and the call's stream. Each returns 0 or a tki_wire_status, with the reason. */
int tki_worker_gpu_begin(tki_worker_gpu *gpu, tki_worker_image images[], int count, void **stream, char *reason,
                         size_t size);
/* Around the kernel: events on its stream. */
void tki_worker_gpu_mark(tki_worker_gpu *gpu, bool end);
/* Waits for the kernel's stream, downloads, waits for the whole device, and looks whether anything changed since. */
int tki_worker_gpu_finish(tki_worker_gpu *gpu, tki_worker_image images[], int count, double *seconds, int *detail,
                          char *reason, size_t size);
