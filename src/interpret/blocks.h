/* DECIDES. What is known of many numbers at a time, each kind of knowledge in a line of its own: the rules of arithmetic.h for all of them, in
 * loops that a processor's vectors take, with the same roundings. They are for numbers that are finite in any evaluation. Where one is not, or
 * may overflow, a function returns false, and what it wrote means nothing: then it is for the rules of single values. */
#pragma once

#include <string.h>

#include "interpret/arithmetic.h"

/* Elements that are computed at a time. */
enum { TKI_LANES = 128 };

/* Of `count` elements lines are filled up to the next multiple of four, with numbers of which nothing is asked. */
typedef struct tki_block {
    bool exact;    /* d and e are 0, and l and h are v: only v is set */
    int64_t depth; /* of each, 0 or TKI_NORMALISED; `mass` is 0 */
    double v[TKI_LANES], d[TKI_LANES], e[TKI_LANES], l[TKI_LANES], h[TKI_LANES];
} tki_block;

/* Its lines, whatever is set. */
typedef struct tki_lines {
    const double *v, *d, *e, *l, *h;
} tki_lines;

extern const double tki_zeros[TKI_LANES];

static inline tki_lines tki_lines_of(const tki_block *b)
{
    if (b->exact)
        return (tki_lines){b->v, tki_zeros, tki_zeros, b->v, b->v};
    return (tki_lines){b->v, b->d, b->e, b->l, b->h};
}

static inline int tki_filled(int count)
{
    return (count + 3) & ~3;
}

static inline tki_value tki_block_at(const tki_block *b, int i)
{
    if (b->exact)
        return (tki_value){.v = b->v[i], .l = b->v[i], .h = b->v[i], .depth = b->depth, .state = TKI_IS_FINITE};
    return (tki_value){.v = b->v[i],
                       .d = b->d[i],
                       .e = b->e[i],
                       .l = b->l[i],
                       .h = b->h[i],
                       .depth = b->depth,
                       .state = TKI_IS_FINITE};
}

/* Of a block that is not exact. */
static inline void tki_block_put(tki_block *b, int i, const tki_value *x)
{
    b->v[i] = x->v;
    b->d[i] = x->d;
    b->e[i] = x->e;
    b->l[i] = x->l;
    b->h[i] = x->h;
}

/* One value so often, or so many values. `factors`: of a sum nothing is kept but its value, as a product of it has that alone. */
TK_MUST_USE bool tki_block_of_one(const tki_value *x, bool factors, int count, tki_block *y);
TK_MUST_USE bool tki_block_of_values(const tki_value x[], bool factors, int count, tki_block *y);

/* Fills what is behind so many values. */
void tki_block_fill(tki_block *y, int count);
/* So many of its values from one on. */
void tki_block_copy(const tki_block *x, int from, int count, tki_block *y);

/* y is none of the operands. */
TK_MUST_USE bool tki_block_add(const tki_rules *rules, const tki_block *a, const tki_block *b, bool subtract,
                               int count, tki_block *y);
TK_MUST_USE bool tki_block_multiply(const tki_rules *rules, const tki_block *a, const tki_block *b, int count,
                                    tki_block *y);
TK_MUST_USE bool tki_block_square(const tki_rules *rules, const tki_block *a, int count, tki_block *y);
/* Of numbers that are exact. */
TK_MUST_USE bool tki_block_larger(const tki_block *a, const tki_block *b, bool smaller, int count, tki_block *y);
TK_MUST_USE bool tki_block_divide(const tki_rules *rules, const tki_block *a, const tki_block *b, int count,
                                  tki_block *y);
