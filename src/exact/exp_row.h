/* DECIDES. A row of logits of any floating type, and their exponentials relative to its maximum: what oracles of ops with a softmax sum.
 * Those of 16-bit types are looked up (exp_table.h), those of fp32 computed (exp_enclosure.h). */
#pragma once

#include "exact/exp_enclosure.h"
#include "exact/exp_table.h"

typedef struct tki_exp_row {
    const tki_exp_entry *table;   /* NULL for fp32 */
    const tki_exp_pieces *pieces; /* fp32 only */
    const void *elements;
    const tki_exp_entry *top; /* the maximum's entry; NULL for fp32 */
    double max;
} tki_exp_row;

/* What depends on the type alone. Of the shape of an oracle's open(). */
TK_MUST_USE tk_status tki_exp_row_open(tk_dtype dtype, void **tables);

static inline double tki_exp_row_value(const tki_exp_row *row, int64_t j)
{
    return row->table ? (double)row->table[((const uint16_t *)row->elements)[j]].x
                      : (double)((const float *)row->elements)[j];
}

/* A row whose maximum is yet to be found, and which may be empty: only its values are asked for. */
static inline tki_exp_row tki_exp_row_of(tk_dtype dtype, const void *tables, const void *elements)
{
    return tki_is_tabled(dtype) ? (tki_exp_row){.elements = elements, .table = tables}
                                : (tki_exp_row){.elements = elements, .pieces = tables};
}

/* The maximum is at `place`. */
static inline tki_exp_row tki_exp_row_at(tk_dtype dtype, const void *tables, const void *elements, int64_t place)
{
    tki_exp_row row = tki_exp_row_of(dtype, tables, elements);
    if (row.table)
        row.top = &row.table[((const uint16_t *)elements)[place]];
    row.max = tki_exp_row_value(&row, place);
    return row;
}

/* In all of these the maximum is finite, and no element is a NaN. */

/* max - x, rounded to nearest. */
static inline double tki_exp_row_distance(const tki_exp_row *row, int64_t j)
{
    return row->max - tki_exp_row_value(row, j);
}

/* exp(x - max) in fp32. A difference of two fp32 numbers need not be a double; what its rounding leaves is one, since both are
 * doubles. For x = -inf that is NaN, and nothing looks at it. */
static inline double tki_exp_row_computed(const tki_exp_row *row, int64_t j)
{
    const double x = (double)((const float *)row->elements)[j];
    const double d = row->max - x;
    const double subtracted = row->max - d;
    return tki_exp_minus_sum(row->pieces, d, (row->max - (d + subtracted)) + (subtracted - x));
}

/* exp(x) in a unit that the row's elements have in common, with a relative error of tki_exp_row_term_error(); zero only where the ratio to
 * the maximum is below TKI_EXP_RATIO_TINY. */
static inline double tki_exp_row_term(const tki_exp_row *row, int64_t j)
{
    return row->table ? tki_exp_scaled(&row->table[((const uint16_t *)row->elements)[j]], row->top)
                      : tki_exp_row_computed(row, j);
}

/* In units of 2^-53 (1 + 2^-40). */
static inline double tki_exp_row_term_error(tk_dtype dtype)
{
    return tki_is_tabled(dtype) ? 1 : TKI_EXP_MINUS_ERROR * 0x1p53;
}

/* exp(x - max), exactly 1 for the maximum: the exact one lies in [r (1 - E), r (1 + E) + TKI_EXP_RATIO_TINY] with
 * E = tki_exp_row_ratio_error(). */
static inline double tki_exp_row_ratio(const tki_exp_row *row, int64_t j)
{
    return row->table ? tki_exp_ratio(&row->table[((const uint16_t *)row->elements)[j]], row->top)
                      : tki_exp_row_computed(row, j);
}

static inline double tki_exp_row_ratio_error(tk_dtype dtype)
{
    return tki_is_tabled(dtype) ? TKI_EXP_RATIO_ERROR : TKI_EXP_MINUS_ERROR;
}

/* exp(x - max) as narrow as the result's precision allows. */
void tki_exp_row_enclose(tki_interval *result, const tki_exp_row *row, int64_t j);
