/* RECORDS. Boxes of indices: the domains of sections. A box is a product of intervals, one for each axis; rank 0 is a single point. */
#pragma once

#include "tensors/safetensors.h"

typedef struct tki_box {
    int rank;
    int64_t start[TKI_TENSOR_MAX_RANK];
    int64_t size[TKI_TENSOR_MAX_RANK];
} tki_box;

tki_box tki_box_whole(const int64_t *shape, int rank);
int64_t tki_box_volume(const tki_box *box); /* of a box within a tensor, whose elements 63 bits count */
bool tki_box_equal(const tki_box *a, const tki_box *b);
bool tki_box_within(const tki_box *box,
                    const int64_t *shape); /* no start or size is negative, nothing beyond the shape */

/* The index of the element at a place of a whole tensor, row-major. */
void tki_index_of(const int64_t *shape, int rank, int64_t place, int64_t *index);

int tki_compare_u32(const void *a, const void *b); /* for qsort() */

/* The common part of two boxes of one rank; false if it is empty. */
bool tki_box_meet(const tki_box *a, const tki_box *b, tki_box *common);

/* "[0:4, 8:16]"; of a point "[]". */
enum { TKI_BOX_TEXT = 400 };
void tki_box_text(const tki_box *box, char text[TKI_BOX_TEXT]);

/* Calls `found` once for each pair a < b of boxes with a common point; they are all of one rank. Takes O(n log^rank n) steps and one for
 * each pair. Stops when `found` returns false. TK_NO_MEMORY is the only failure. */
typedef bool (*tki_overlap_found)(size_t a, size_t b, void *data);
TK_MUST_USE tk_status tki_box_overlaps(tk_ctx *ctx, const tki_box *boxes, size_t count, tki_overlap_found found,
                                       void *data);
