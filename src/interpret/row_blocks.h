/* DECIDES. Reductions of blocks (blocks.h): the rules of reduce.h for many terms of a row at a time. What is added is added in another order; all
 * else is as of single terms. Each returns false, and has done nothing, where that is for single terms. */
#pragma once

#include "interpret/blocks.h"
#include "interpret/reduce.h"

/* Terms `from` to `from` + `count` of a row; row->here is where the first one stands. */
TK_MUST_USE bool tki_row_take_block(tki_row *row, const tki_block *x, int from, int count);
TK_MUST_USE bool tki_row_take_block_again(const tki_rules *rules, tki_row *row, const tki_block *x, int from,
                                          int count);
/* The terms are products of these, as for tki_row_take_product(). */
void tki_row_take_products(tki_row *row, const tki_block *a, const tki_block *b, int from, int count);

/* Sums of as many rows side by side, of which each gets one term at a time. */
typedef struct tki_columns {
    int count;
    int64_t terms;
    double sum[TKI_LANES], lost[TKI_LANES], d[TKI_LANES], mass[TKI_LANES], error[TKI_LANES];
    int64_t nonzero[TKI_LANES], negative[TKI_LANES],
        positive[TKI_LANES]; /* less by one for each term that is so; not zero if one is */
} tki_columns;

void tki_columns_begin(tki_columns *c, int count);
/* A term of each, or with `b` the product of two. */
void tki_columns_take(tki_columns *c, const tki_block *a, const tki_block *b);
void tki_columns_end(const tki_columns *c, tki_over over, tki_row rows[]);

/* Elements of softmax, log_softmax and standardize, of the same row; place[i] as for tki_row_element(). */
TK_MUST_USE bool tki_row_elements(const tki_rules *rules, const tki_row *row, const tki_block *x,
                                  const int64_t place[], int count, tki_block *y);
