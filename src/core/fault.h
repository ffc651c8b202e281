/* DECIDES. What a kernel did wrong in a call, as data: decisions read it, and text is made of it last. */
#pragma once

#include "core/export.h"
#include "tokitai.h"

typedef enum tki_fault_kind {
    TKI_FAULT_NONE,
    TKI_FAULT_SIGNAL,     /* `number` ended it; `tensor`, or else `address`, is where */
    TKI_FAULT_EXIT,       /* it ended its process with status `number` */
    TKI_FAULT_GONE,       /* it closed its connection, or its process ended with the one that watches it */
    TKI_FAULT_FORGED,     /* a frame that no worker sends: `rule` is the one it breaks */
    TKI_FAULT_SPOKE_LATE, /* a frame after it had returned */
    TKI_FAULT_KEPT,       /* `tensor` could still be written after it had returned */
    TKI_FAULT_SEALED,     /* it changed the seals of `tensor` */
    TKI_FAULT_HEAP, /* it went beside memory that it had allocated itself; signal `number`, or 0 if it was seen afterwards */
    TKI_FAULT_DEVICE,     /* its device reported a failure, in the driver's words */
    TKI_FAULT_OVERRUN,    /* it wrote around `tensor`, found after its end */
    TKI_FAULT_FLOAT_MODE, /* it left another floating-point mode behind, `mode` */
    TKI_FAULT_PROCESS,    /* it changed its process beside memory: `changed`; the handler of signal `number` */
    TKI_FAULT_INDEX,      /* it refused an index: element `offset` of `tensor` */
    TKI_FAULT_REFUSED,    /* it does not take the case: it returned `number` */
    TKI_FAULT_TIMEOUT,    /* it did not return, or load, within `seconds` */
    TKI_FAULT_KINDS
} tki_fault_kind;

typedef struct tki_fault {
    tki_fault_kind kind;
    int tensor;            /* in contract order; -1: none is concerned */
    int64_t offset, bytes; /* where in it, which may be outside, and how large it is */
    bool wrote;            /* it wrote there; else it read, or that is not known */
    bool input;            /* the tensor is one */
    bool late;             /* after the kernel had returned */
    int number;
    double seconds;
    bool loading;     /* no call had begun */
    bool killed;      /* from outside, as far as is known: by a system that is short of memory, say */
    uint64_t address; /* 0: unknown */
    const char *rule;
    unsigned mode;    /* tki_float_deviation */
    unsigned changed; /* TKI_CHANGED_... */
} tki_fault;

/* What code may change in its process for all other code there. */
enum {
    TKI_CHANGED_HANDLER = 1, /* what happens at a signal */
    TKI_CHANGED_MASK = 2,    /* which signals its thread blocks */
    TKI_CHANGED_STACK = 4,   /* the stack of the handlers */
    TKI_CHANGED_LOCALE = 8,
    TKI_CHANGED_ENVIRONMENT = 16, /* which libraries do for others that they load: it is told and refutes nothing */
    TKI_CHANGED_TO_REFUTE = 15
};

/* What a kernel changed beside its outputs. */
typedef struct tki_overrun {
    int param;      /* the buffer outside which it wrote; -1: none */
    int64_t offset; /* of the first byte there, relative to the buffer's start */
    tki_fault
        left; /* TKI_FAULT_FLOAT_MODE, TKI_FAULT_PROCESS: how it left its thread or process; TKI_FAULT_NONE: as it was */
} tki_overrun;

/* The kind of clause that is broken by it. */
TKI_EXPORT tk_clause_kind tki_fault_clause(const tki_fault *fault);

TKI_EXPORT const char *tki_fault_name(tki_fault_kind kind); /* "signal": in certificates */

/* What the kernel did, in words: "wrote outside y, at byte 12 of its 10". `words`: those of a driver, or of the system about an end; may be
 * NULL. The tensor's name is taken from the contract, which may be NULL where no tensor is concerned. */
TKI_EXPORT void tki_fault_text(const tki_fault *fault, const tk_contract *contract, const char *words, char *text,
                               size_t size);

/* As tki_fail(), with the status that the fault stands for; it is kept in the context until the next failure. */
tk_status tki_fail_fault(tk_ctx *ctx, const tki_fault *fault, const tk_contract *contract, const char *words);
