/* DECIDES. What keeps a judgement from its end, as data: message.c makes the sentence. */
#pragma once

#include "core/export.h"
#include "tokitai.h"

typedef enum tki_failure_kind {
    TKI_FAILED_INPUT_MEMORY,  /* no memory for `bytes` of inputs */
    TKI_FAILED_BUFFER_MEMORY, /* for a buffer of `bytes` */
    TKI_FAILED_PART_MEMORY,   /* for a part of an output */
    TKI_FAILED_DOMAIN,        /* element `at` of `tensor`, `bits`, `value`, is outside of the domain normal */
    TKI_FAILED_RANGE,         /* of [least, most] */
    TKI_FAILED_INTEGER_RANGE, /* the same of an integer */
    TKI_FAILED_CLAUSE,        /* `op` has none of what failed */
    TKI_FAILED_ORACLE,        /* that of `op`, with the status */
    TKI_FAILED_ENCLOSURE,     /* one of an exact value of `op` is invalid */
    TKI_FAILED_KILLED /* a call, from outside: `words` are those of its end; `again`: once more it ended well */
} tki_failure_kind;

typedef struct tki_failure {
    tki_failure_kind kind;
    tk_status status;
    const char *op, *tensor, *words;
    int64_t at, integer;
    uint32_t bits;
    double value, least, most;
    size_t bytes;
    bool again;
} tki_failure;

/* As tki_fail(): sentences are made of it where the context has somebody who makes them. */
TKI_EXPORT tk_status tki_fail_by(tk_ctx *ctx, const tki_failure *failure);
#define TKI_FAIL_BY(ctx, ...) tki_fail_by(ctx, &(tki_failure){.kind = __VA_ARGS__})
