/* CHOOSES. A child of the program tokitai-worker, seen from the process that started it: the socket for frames, the one by which it is let go, its
 * scratch folder. */
#pragma once

#include <sys/types.h>

#include "core/export.h"
#include "core/fault.h"
#include "core/scratch.h"
#include "isolate/wire.h"
#include "tokitai.h"

typedef struct tki_child {
    pid_t process; /* 0: none */
    int frames;    /* -1: closed */
    int control;
    int output; /* what it prints, if asked for */
    tki_scratch scratch;
    int64_t oom_kills; /* of the system when it was started; -1: unknown */
} tki_child;

#define TKI_NO_CHILD                              \
    {                                             \
        .frames = -1, .control = -1, .output = -1 \
    }

/* A frame as it came, and what came of waiting for it. */
typedef struct tki_frame {
    _Alignas(8) unsigned char bytes[sizeof(tki_wire_reply) + TKI_WIRE_TEXT]; /* workers send no records of arrays */
    size_t size;
} tki_frame;

typedef enum tki_receipt {
    TKI_RECEIPT_FRAME,
    TKI_RECEIPT_CLOSED,  /* the other side is gone */
    TKI_RECEIPT_TIMEOUT, /* nothing until the deadline */
    TKI_RECEIPT_GARBLED  /* longer than any frame, or with descriptors, which are not taken */
} tki_receipt;

/* Starts the program with these arguments (up to NULL) behind its version and scratch folder: child->scratch, or a new one if
 * that has no path. Nothing of this process comes along but `environment` (up to NULL), and no descriptor. */
TK_MUST_USE tk_status tki_child_start(tk_ctx *ctx, char *const arguments[], char *const environment[], bool output,
                                      tki_child *child);

/* Tells it to end, with all its descendants, and waits for nothing: tki_child_end is still to come. */
void tki_child_dismiss(tki_child *child);
/* Ends it and all its descendants; leaves the scratch folder. */
void tki_child_end(tki_child *child);

/* `deadline` is on tki_now()'s clock. */
tki_receipt tki_child_receive(const tki_child *child, double deadline, tki_frame *frame);

/* Waits a moment for the child's end and tells how it came; what is no signal and no exit status is returned in words, else NULL. */
const char *tki_child_end_of(const tki_child *child, tki_fault *fault);
/* The same wait; false if it has not ended. The status is waitpid()'s. */
bool tki_child_wait(const tki_child *child, double deadline, int *status);

/* Keeps what it prints until it has ended or the time is over; false for the latter. What does not fit is dropped. `text` ends with a zero
 * byte in any case. Of a child whose output was asked for. */
bool tki_child_read_until_end(const tki_child *child, double deadline, char *text, size_t size, int *status);

/* Strings for arguments and environment; a failure is remembered and told by the last call. */
typedef struct tki_strings {
    char **items; /* up to NULL */
    int count;
    bool failed;
} tki_strings;

TKI_EXPORT __attribute__((format(printf, 2, 3))) void tki_strings_add(tki_strings *strings, const char *format, ...);
TKI_EXPORT void tki_strings_free(tki_strings *strings);

/* PATH, LANG and, if `gpu`, what the vendors' drivers read. */
void tki_child_environment(tki_strings *environment, bool gpu);
