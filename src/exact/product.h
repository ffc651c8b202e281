/* DECIDES. Sums of products of the lines of two factors, a box of them at a time: each enclosed in double, with what its bound needs,
 * or exactly. Finite products only; what is not finite is told by flags. */
#pragma once

#include <mpfr.h>

#include "exact/oracle.h"
#include "exact/product_bound.h"
#include "tokitai.h"

/* Rows and columns of a box at which this works best. */
enum { TKI_PRODUCT_BOX = 256 };

/* A line is a row of the left or a column of the right factor; places run along the sum. */
typedef struct tki_factor {
    const void *data;
    int64_t line_stride, place_stride; /* one of them is 1 */
} tki_factor;

typedef struct tki_product {
    tki_factor left, right;
    int64_t places;
    tk_dtype dtype; /* of both factors, or of the left one */
    bool mixed;     /* the right one is of another type of 8 bits, as the left one is */
    tk_dtype right_dtype;
    int numerics, matrix_unit; /* TKI_NUMERICS_..., TKI_UNIT_... */
    const void *tables;        /* of tki_product_open(), by `dtype` */
} tki_product;

/* One sum S over the finite products. */
typedef struct tki_product_element {
    double lo, hi; /* lo <= S <= hi */
    double unit;   /* every product is a multiple of it; a power of two, or infinite where all are zero */
    double
        magnitude; /* for tki_sum_is_exact(): the sum of |products|, or of those with which they are aligned, exact up to 2^53 units */
    unsigned flags;      /* TKI_SUM_HAS_...: what is among the products */
    tki_product_sum sum; /* for bounds and what is admitted */
} tki_product_element;

/* TKI_PRODUCT_BOX rows and columns, as an oracle's box_size. */
void tki_product_box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols);

/* A box at work. */
typedef struct tki_product_box tki_product_box;

/* Tables by dtype, as of an oracle's open(). */
TK_MUST_USE tk_status tki_product_open(tk_dtype dtype, void **tables);

/* The sums of the box: rows are lines of the left factor, columns of the right one. On TK_OK the caller frees it. */
TK_MUST_USE tk_status tki_product_box_make(const tki_product *p, const tki_box *box, tki_product_box **made);
void tki_product_box_free(tki_product_box *box); /* NULL is allowed */

/* The element at `row` and `col`, counted from the box's beginning. */
tki_product_element tki_product_at(const tki_product_box *box, int64_t row, int64_t col);

/* S exactly, at a row and column counted from the factors' beginning; gives `value` TKI_ACCUMULATOR_BITS of precision. */
void tki_product_exact(const tki_product *p, int64_t row, int64_t col, mpfr_ptr value);
