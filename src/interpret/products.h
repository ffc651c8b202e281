/* DECIDES. Sums of products of two inputs that are products of matrices, by exact/product.h: boxes of them at a time. */
#pragma once

#include "interpret/program.h"

/* sum[k](a * b), where k is one axis of each input, one of the other axes of each is a line or a column, and the rest they have in common. */
typedef struct tki_matrices {
    int left, right;                     /* nodes[]: reads */
    int row, col;                        /* indices[], or TKI_NONE */
    int64_t rows, cols, places, batches; /* a batch is a choice of the other indices */
    int64_t left_line, left_place, right_line, right_place;
} tki_matrices;

/* Is it such a sum, and large enough for that to be worth it? */
bool tki_find_matrices(const tki_interpreter *in, int node, tki_matrices *m);

/* The table of that reduction. */
TK_MUST_USE tk_status tki_fill_products(const tki_interpreter *in, int node, tki_value entries[]);
