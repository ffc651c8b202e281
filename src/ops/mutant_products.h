/* CHOOSES. What planted products share, of matrices and of layers: factors decoded to fp32, and what can be wrong with a product of two, whatever is
 * done with it afterwards. */
#pragma once

#include <math.h>
#include <stdlib.h>

#include "ops/mutant_tools.h"

/* Element (line, place) of a factor is data[line * line_stride + place * place_stride]. */
typedef struct tki_planted_factor {
    const void *data;
    int64_t line_stride, place_stride, count;
} tki_planted_factor;

static inline tki_planted_factor tki_planted_by_rows(const void *data, int64_t lines, int64_t places)
{
    return (tki_planted_factor){data, places, 1, lines * places};
}

static inline tki_planted_factor tki_planted_by_columns(const void *data, int64_t lines, int64_t places)
{
    return (tki_planted_factor){data, 1, lines, lines * places};
}

/* free() it; NULL when memory ran out. Places outside, which a wrong stride leads to, wrap round; a factor without elements is
 * zero. */
static inline float *tki_planted_decoded(const tk_case *c, const tki_planted_factor *f, int64_t lines, int64_t places)
{
    float *decoded = malloc((size_t)(lines * places + 1) * sizeof *decoded);
    for (int64_t line = 0; decoded && line < lines; line++)
        for (int64_t place = 0; place < places; place++) {
            int64_t at = line * f->line_stride + place * f->place_stride;
            decoded[line * places + place] = f->count ? tki_get(c, f->data, at < f->count ? at : at % f->count) : 0;
        }
    return decoded;
}

/* What is wrong; all clear computes it right. */
typedef struct tki_product_mutation {
    tki_store store;
    bool transposed_left, transposed_right, transposed_out, off_by_one, flushed_inputs, rounded_sum, rounded_products,
        rounded_halves, skips_left_zeros, skips_right_zeros, sum_carried_over, nothing_without_places, absolute_left,
        through_16_bits, last_product_twice;
    bool adds_to_output;                       /* what it holds, whether there is something to add or not */
    int64_t dropped_places, skipped_places;    /* at the end and at the beginning of each sum */
    int64_t most_places;                       /* longer sums are cut down to this */
    int64_t most_dense;                        /* of sums with more nonzero products 700 are left out */
    int64_t multiple;                          /* the sum's length is cut down to a multiple of this */
    int64_t chunk;                             /* partial sums of so many products are rounded to 16 bits */
    int64_t row_multiple;                      /* rows after the last multiple are not written */
    int64_t dropped_columns, dropped_elements; /* at the end, not written */
    int64_t most_rows;                         /* rows beyond are not written */
    int64_t tile; /* the last column is not written where all sizes are multiples of it */
    float factor; /* of the result, if not 0 */
} tki_product_mutation;

static inline tki_planted_factor tki_planted_transposed(tki_planted_factor f, int64_t lines, int64_t places)
{
    bool was_by_rows = f.place_stride == 1 && f.line_stride == places;
    return was_by_rows ? tki_planted_by_columns(f.data, lines, places) : tki_planted_by_rows(f.data, lines, places);
}

/* Where the sum ends. */
static inline int64_t tki_planted_end_of_sum(const tki_product_mutation *m, int64_t places)
{
    int64_t end = m->dropped_places < places ? places - m->dropped_places : places;
    end -= tki_tail(end, m->multiple);
    return m->most_places && m->most_places < end ? m->most_places : end;
}

static inline float tki_planted_product_of(const tk_case *c, const tki_product_mutation *m, float x, float y)
{
    if (m->flushed_inputs) {
        x = tki_flushed(c, x);
        y = tki_flushed(c, y);
    }
    if (m->absolute_left)
        x = fabsf(x);
    if ((m->skips_left_zeros && x == 0) || (m->skips_right_zeros && y == 0))
        return 0;
    return m->rounded_products ? tki_rounded(c, x * y) : x * y;
}

/* Nothing is wrong with the products or the additions themselves. */
static inline bool tki_planted_adds_products_plainly(const tki_product_mutation *m)
{
    return !m->flushed_inputs && !m->absolute_left && !m->skips_left_zeros && !m->skips_right_zeros &&
           !m->rounded_products && !m->last_product_twice && !m->chunk && !m->rounded_halves && !m->rounded_sum;
}

static inline int64_t tki_planted_nonzero_products(const float *x, const float *y, int64_t places)
{
    int64_t count = 0;
    for (int64_t t = 0; t < places; t++)
        count += x[t] != 0 && y[t] != 0;
    return count;
}

static inline float tki_planted_inner_sum(const tk_case *c, const tki_product_mutation *m, const float *x,
                                          const float *y, int64_t places, float start)
{
    int64_t end = tki_planted_end_of_sum(m, places);
    int64_t begin = m->skipped_places < end ? m->skipped_places : 0;
    float total = start;
    float partial = 0;
    if (tki_planted_adds_products_plainly(m)) {
        bool dense = m->most_dense && end > m->most_dense && tki_planted_nonzero_products(x, y, end) > m->most_dense;
        for (int64_t t = begin; t < end; t++)
            if (!dense || t < end / 2 || t >= end / 2 + 700)
                total += x[t] * y[t];
        return total;
    }
    for (int64_t t = begin; t < end; t++) {
        float z = tki_planted_product_of(c, m, x[t], y[t]);
        if (m->last_product_twice && t + 1 == end && end % 8)
            z *= 2;
        if (m->chunk || m->rounded_halves) {
            partial += z;
            bool ends = m->chunk ? (t + 1) % m->chunk == 0 : t + 1 == end / 2;
            if (ends || t + 1 == end) {
                total += tki_rounded(c, partial);
                partial = 0;
            }
            continue;
        }
        total = m->rounded_sum ? tki_rounded(c, total + z) : total + z;
    }
    return total;
}
