/* RECORDS. Covers of a tensor by boxes: where they leave a gap, and a walk over the tensor in runs of contiguous elements that have the same boxes
 * over them. Along that walk the elements of each box come in the order in which they lie in a section over it, so that every section is
 * read, or written, once and from its beginning to its end. */
#pragma once

#include "glue/box.h"

typedef struct tki_run {
    int64_t first, count;  /* elements, by their place in the whole tensor, row-major */
    const uint32_t *boxes; /* [box_count], over all of these elements; ascending */
    size_t box_count;      /* 0: none, a gap */
} tki_run;

/* Goes over all of the tensor in order. Ends when `take` returns anything but TK_OK, with that. The boxes lie within the shape. */
typedef tk_status (*tki_run_taker)(const tki_run *run, void *data);
TK_MUST_USE tk_status tki_cover_walk(tk_ctx *ctx, const int64_t *shape, int rank, const tki_box *boxes, size_t count,
                                     tki_run_taker take, void *data);

/* How many elements have no box over them, and a box of such elements that holds the first of them. */
TK_MUST_USE tk_status tki_cover_gaps(tk_ctx *ctx, const int64_t *shape, int rank, const tki_box *boxes, size_t count,
                                     int64_t *missing, tki_box *first);
