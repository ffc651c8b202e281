/* RECORDS. The one pass over a checkpoint: for each tensor, all its sections are read once, hashed, compared wherever they overlap, and put
 * together; what comes out goes to one file, or to several. */
#pragma once

#include "glue/checkpoint.h"
#include "glue/writer.h"

enum { TKI_OVERLAPS_LISTED = 10000 };

typedef struct tki_join {
    tk_ctx *ctx;
    tki_checkpoint *checkpoint;
    const tki_glue_options *options;
    tki_glue_outcome *outcome;
    tki_writer *writer; /* NULL: nothing is written */
    int64_t primary;    /* shard, -1: none */
    bool chosen;        /* something was taken that not all sections agree on */
    json_t *comparisons, *overlaps, *outvoted;
    int64_t bytes_done;
} tki_join;

/* A part of a tensor that goes to a file. */
typedef struct tki_sink {
    tki_box box;
    size_t output;
} tki_sink;

/* Checks the options, counts and lists the overlaps, and lets replicas vote, if that is asked for. */
TK_MUST_USE tk_status tki_join_begin(tki_join *join, tk_ctx *ctx, tki_checkpoint *checkpoint,
                                     const tki_glue_options *options, tki_glue_outcome *outcome);

/* Reads one tensor and puts it to the sinks. What does not agree is added to the checkpoint's obstructions. */
TK_MUST_USE tk_status tki_join_tensor(tki_join *join, tki_whole *whole, const tki_sink *sinks, size_t sink_count);

/* Ends the writer, if there is one; the status of what went before comes first. */
TK_MUST_USE tk_status tki_join_end_writer(tki_join *join, tk_status status, char sha256[TKI_HASH_HEX]);

/* The verdict, counts and the report. Takes over the lists. */
TK_MUST_USE tk_status tki_join_end(tki_join *join);
void tki_join_free(tki_join *join);

/* Reading along a mapped section. Pages that lie behind are given back, so that they do not count as memory of this process. */
typedef struct tki_cursor {
    const unsigned char *bytes; /* [size] */
    int64_t size, at, kept_from, step;
} tki_cursor;

tki_cursor tki_cursor_of(const tki_checkpoint *checkpoint, const tki_section *section, size_t open_at_once);
void tki_cursor_advance(tki_cursor *cursor, int64_t bytes);
