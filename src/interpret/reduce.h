/* DECIDES. The rules of the bound for reductions: of sums, products, extrema, exponentials, means and variances, term by term. docs/definitions.md
 * derives each. */
#pragma once

#include "interpret/arithmetic.h"

/* A sum of terms, or of products of which nothing is rounded but the sum. */
typedef struct tki_sum {
    double sum, lost; /* of the exact values, and what adding them in double has lost */
    double d;         /* how far off the terms are */
    double mass, error;
    int64_t terms, nonzero;
    bool negative, positive; /* some term may be */
    unsigned state;
} tki_sum;

void tki_sum_begin(tki_sum *s);

/* Adds v, of which not more is lost than `lost` has behind it. */
static inline void tki_sum_add(tki_sum *s, double v)
{
    const double sum = s->sum + v, added = sum - s->sum;
    s->lost += (s->sum - (sum - added)) + (v - added);
    s->sum = sum;
}

void tki_sum_take(tki_sum *s, const tki_value *term);
void tki_sum_take_product(const tki_rules *rules, tki_sum *s, const tki_value *a, const tki_value *b);
/* `depth` roundings a term, and `underflow` in all. */
tki_value tki_sum_end(const tki_sum *s, double depth, double underflow);

/* fraction 2^exponent, whatever a double's exponents are; the fraction is 0 or in [1/2, 1). */
typedef struct tki_scaled {
    double fraction;
    int64_t exponent;
} tki_scaled;

/* The factors of a product that were met. */
typedef struct tki_factors {
    tki_scaled v, magnitude, most; /* the products of |v|, with v's sign; of |v| + d; of (|v| + d + e)(1 + u) */
    double reach, least;           /* of what of |v| + e is above 1, and of what an evaluation may have below 1 */
    bool positive, negative;       /* what the product may be */
    bool has_zero, is_zero;        /* a finite factor is zero; and nothing else */
    bool is_nan, is_special;       /* a factor is NaN in any evaluation; is no finite number in any */
    unsigned state;                /* what else than finite they may be */
} tki_factors;

/* One reduction of one row, of which the first pass sees all terms, and the second all of them again. */
typedef struct tki_row {
    tki_over over;
    tki_sum sum;
    tki_value
        value; /* the result so far: a product, an extremum; the mean of standardize and var; its scale from the second pass on */
    tki_value mean;
    tki_factors factors;        /* prod */
    int64_t terms, near;        /* near: terms that a sum of exponentials notices */
    int64_t highest;            /* of these, how many have the largest argument */
    int64_t here;               /* set by who gives terms: where the next one stands, ascending */
    int64_t place;              /* where the largest argument stands, the first of equal ones */
    double top;                 /* sums of exponentials: the largest argument, of which all are subtracted */
    double exponentials, grown; /* the sum of exp(x - top), and of exp(x + e - top) */
    double rest, rest_grown;    /* the same without the first term at the top */
    double radius;              /* how far off arguments are */
    double farthest;            /* their largest error */
    bool surely;                /* one of them is not -inf, whatever an evaluation does */
    bool loses;                 /* one that an evaluation may find to be -inf counts in the exact sum */
    bool is_nan;                /* one of them is NaN or +inf whatever an evaluation does */
    bool has_nan;               /* one of them is NaN */
    unsigned infinite;          /* what the logarithm of the sum may be: of +inf, or of -inf alone */
    unsigned absent;            /* what it may be because of terms that are absent */
    unsigned state;
    /* What tki_row_finish() makes of it, for all elements: the bound of softmax; how far off the sum of exponentials is, as a share of it;
     * its logarithm, by how much errors of the arguments change that, and what the sum's own roundings do. */
    double at_most, per_distance;
    double relative_radius, log, moved, rounded;
} tki_row;

void tki_row_begin(tki_row *row, tki_over over);
void tki_row_take(tki_row *row, const tki_value *term);
void tki_row_take_product(const tki_rules *rules, tki_row *row, const tki_value *a, const tki_value *b);
/* Between the passes of what has two. */
void tki_row_turn(const tki_rules *rules, tki_row *row);
void tki_row_take_again(const tki_rules *rules, tki_row *row, const tki_value *term);

/* Products that a matrix unit adds, which truncates factors first, or not. */
typedef struct tki_units {
    bool used;
    bool or_fp32;      /* or they are added in fp32 */
    double block;      /* products in a block; 0: each that is not zero may be in one of its own */
    double truncation; /* 2^-F of the largest of a block is lost of each */
    double relative;   /* how far off its factors make a product, as a share of it */
    double absolute;   /* and beside that */
    double aligned;    /* the most that it is smaller than that with which it is aligned */
} tki_units;

/* How the terms of a sum are rounded. */
typedef struct tki_terms {
    bool products;  /* which an evaluation rounds, or fuses */
    bool underflow; /* and which may be below fp32's numbers */
    tki_units units;
} tki_terms;

/* What a sum is. */
tki_value tki_sum_value(const tki_rules *rules, const tki_sum *sum, tki_terms terms);

/* What the row is reduced to. `parameter`: the correction of a variance. */
tki_value tki_row_end(const tki_rules *rules, const tki_row *row, tki_terms terms, const tki_value *parameter);

/* What a row of exponentials is when all is finite, whatever an evaluation does. */
static inline bool tki_row_is_plain(const tki_row *of)
{
    return of->state == TKI_IS_FINITE && !of->is_nan && !of->loses && of->terms > 0;
}

/* By how much `grown` may be off: its terms, and their addition. */
static inline double tki_row_grown_slack(const tki_row *row)
{
    return (0x1p-38 + (double)row->terms * 0x1p-52) * row->grown;
}

/* exp(e), at least. */
double tki_grown_by(const tki_rules *rules, double e);

/* Prepares a row that elements are computed from: `parameter` is standardize's eps. */
void tki_row_finish(const tki_rules *rules, tki_row *row, const tki_value *parameter);

/* The element of softmax, log_softmax and standardize whose term is `term`, the one at `place`. */
tki_value tki_row_element(const tki_rules *rules, const tki_row *row, const tki_value *term, int64_t place);
