/* RECORDS. Why shards do not glue: typed values, each with all that is needed to look at the place. */
#pragma once

#include "core/export.h"
#include "glue/box.h"

typedef enum tki_obstruction_kind {
    TKI_GAP,               /* elements that no shard has */
    TKI_OVERLAP_DISAGREES, /* two sections over different boxes differ where both have an element */
    TKI_REPLICA_DISAGREES, /* two sections over the same box differ */
    TKI_DTYPE,             /* sections of one tensor have different types */
    TKI_SHAPE,             /* shapes that do not fit each other, or a section that does not fit its place */
    TKI_STEP_SKEW,         /* shards of different training steps */
    TKI_DUPLICATE_NAME,    /* a name twice in a shard, or in two shards although the index gives it to one */
    TKI_MISSING_SHARD,     /* a shard that the others, the index or the manifest name is not there */
    TKI_STALE_SHARD,       /* a shard of another checkpoint, or not the one that the index describes */
    TKI_TRUNCATED,         /* a file that ends early */
    TKI_HASH,              /* bytes that do not have the SHA-256 that was recorded for them */
    TKI_OBSTRUCTION_KINDS
} tki_obstruction_kind;

TKI_EXPORT const char *tki_obstruction_name(tki_obstruction_kind kind); /* "GAP" */

typedef struct tki_obstruction {
    tki_obstruction_kind kind;
    char *tensor;    /* or NULL */
    char *shards[2]; /* paths, or NULL */
    char *detail;    /* in words, or NULL */
    bool has_box, has_element;
    tki_box box;                          /* of the gap, or common to both sections */
    int64_t element[TKI_TENSOR_MAX_RANK]; /* index of the first element that differs, in the whole tensor */
    tk_dtype type;
    uint64_t bits[2];      /* its patterns in the two shards */
    int64_t differing, of; /* elements; of a gap, the missing ones */
    uint64_t worst_ulps;   /* of those that differ */
} tki_obstruction;

enum { TKI_OBSTRUCTIONS_KEPT = 1000 };

typedef struct tki_obstructions {
    tki_obstruction *list; /* [kept] */
    size_t kept, count;    /* at most TKI_OBSTRUCTIONS_KEPT are kept */
    bool no_memory;        /* one of them was lost; the count is right */
} tki_obstructions;

/* Adds a copy of it, with the texts it points to; `detail` is replaced by what the format makes, if there is one. */
__attribute__((format(printf, 3, 4))) void tki_obstruct(tki_obstructions *all, tki_obstruction obstruction,
                                                        const char *detail, ...);
void tki_obstructions_free(tki_obstructions *all);

/* "tensor "w" [0:4, 0:8]: a.safetensors has ... at [1, 3], b.safetensors ...; 1 of 32 elements differ". free() it; NULL: no memory. */
TKI_EXPORT char *tki_obstruction_text(const tki_obstruction *obstruction);
json_t *tki_obstruction_json(const tki_obstruction *obstruction);
