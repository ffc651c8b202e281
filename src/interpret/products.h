/* DECIDES. Sums of products as products of matrices, boxes of them at a time: of two inputs by exact/product.h, of other values by what is known of
 * each. */
#pragma once

#include "interpret/program.h"

struct tki_thread;

/* Indices that differ between lines, and how: a line is a value of each, times its step. */
typedef struct tki_line_indices {
    int count, index[TK_MAX_RANK];
    int64_t extent[TK_MAX_RANK], step[TK_MAX_RANK];
    int64_t lines;
} tki_line_indices;

/* sum(a * b). */
typedef struct tki_matrices {
    int left, right; /* nodes[] */
    bool
        gathered; /* they are reads of inputs, whose subscripts are sums of a part that depends on the place in the sum, and one that does not */
    bool masked;  /* and terms are left out by a predicate, each test by one of the factors */
    tki_line_indices rows, cols, batches;
    int64_t places;
} tki_matrices;

/* Is it such a sum, and large enough for that to be worth it? */
bool tki_find_matrices(const tki_interpreter *in, int node, tki_matrices *m);

/* The values of the indices of one line, and where it lies in a table with these steps; added to what is there. */
void tki_add_line(const tki_line_indices *of, int64_t line, const int64_t *table_step, int64_t index[],
                  int64_t *table);

/* A box of the product of such values: `count` lines of each factor from `first` on, the indices of the batch being set. Both programs are those of
 * the factors. `table` is where the batch begins. */
typedef struct tki_value_box {
    const tki_matrices *m;
    int node;
    int64_t first[2], count[2];
    const int64_t *batch, *table_step;
    int64_t table;
} tki_value_box;
bool tki_fill_value_box(struct tki_thread *t, const tki_value_box *box, tki_value entries[]);
/* Lines of each factor in one. */
int64_t tki_value_box_lines(int64_t places);

/* The table of that reduction. */
TK_MUST_USE tk_status tki_fill_products(const tki_interpreter *in, int node, tki_value entries[]);
