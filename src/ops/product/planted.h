/* CHOOSES. All products seen as one, for planted kernels: out[rows, cols] of two factors, decoded to fp32 and lying so that a sum runs along memory,
 * what is added to it, and what gelu makes of it; and what can be wrong with a product of two lines, whatever is done with it afterwards. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/mutant_tools.h"
#include "ops/product/contract.h"

/* Element (line, place) of a factor is data[line * line_stride + place * place_stride], of `count` that there are. */
typedef struct tki_planted_factor {
    const void *data;
    tk_dtype dtype;
    int64_t line_stride, place_stride, count;
    bool wraps; /* places outside, which a mistake leads to, are counted from the beginning; else they are zero */
} tki_planted_factor;

static inline tki_planted_factor tki_planted_factor_of(const void *data, tk_dtype dtype, int64_t lines,
                                                       int64_t places, bool across)
{
    return (tki_planted_factor){data, dtype, across ? 1 : places, across ? lines : 1, lines * places, false};
}

static inline tki_planted_factor tki_planted_transposed(tki_planted_factor f, int64_t lines, int64_t places)
{
    return tki_planted_factor_of(f.data, f.dtype, lines, places, f.place_stride == 1 && f.line_stride == places);
}

/* free() it; NULL when memory ran out. */
static inline float *tki_planted_decoded(const tki_planted_factor *f, int64_t lines, int64_t places)
{
    float *decoded = malloc((size_t)(lines * places + 1) * sizeof *decoded);
    for (int64_t line = 0; decoded && line < lines; line++)
        for (int64_t place = 0; place < places; place++) {
            int64_t at = line * f->line_stride + place * f->place_stride;
            if (f->wraps && f->count)
                at %= f->count;
            decoded[line * places + place] = at < f->count ? tki_get_as(f->dtype, f->data, at) : 0;
        }
    return decoded;
}

/* Tensors that are not there are NULL. */
typedef struct tki_planted_product {
    tki_planted_factor left, right;
    const void *bias; /* [cols] */
    tk_dtype bias_type;
    const void *other; /* residual or before, [rows, cols], of the result's type */
    const void *pre;   /* an input, likewise */
    void *out, *unactivated;
    int64_t rows, cols, places;
    /* Products of groups: this one is as if there was one group of all rows, which are `places` where the sums run over rows. */
    const void *ends; /* [groups] */
    bool over_rows;
    int64_t groups, all_rows, matrix; /* matrix: elements of a matrix that each group has */
} tki_planted_product;

static inline tki_planted_product tki_planted_product_of(const tk_case *c, void *const b[])
{
    const tki_product_roles r = tki_product_roles_of(c->contract);
    const int64_t rows = c->dims[r.rows], cols = c->dims[r.cols], places = c->dims[r.inner];
    tki_planted_product v = {
        .left = tki_planted_factor_of(b[r.left], tk_case_param_dtype(c, r.left), rows, places, r.left_across),
        .right = tki_planted_factor_of(b[r.right], tk_case_param_dtype(c, r.right), cols, places, r.right_across),
        .bias = tki_product_has(c, r.bias) ? b[r.bias] : NULL,
        .bias_type = r.bias >= 0 ? tk_case_param_dtype(c, r.bias) : c->dtype,
        .other = tki_product_has(c, r.other) ? b[r.other] : NULL,
        .pre = tki_product_has(c, r.pre) ? b[r.pre] : NULL,
        .out = b[r.out],
        .unactivated = tki_product_has(c, r.unactivated) ? b[r.unactivated] : NULL,
        .rows = rows,
        .cols = cols,
        .places = places};
    if (r.ends >= 0) {
        v.ends = b[r.ends];
        v.over_rows = r.over_rows;
        v.groups = tk_case_elements(c, r.ends);
        v.all_rows = c->dims[0];
        v.matrix = r.over_rows ? rows * cols : cols * places;
        v.right.count = tk_case_elements(c, r.right);
    }
    return v;
}

static inline int64_t tki_planted_end(const tk_case *c, const tki_planted_product *v, int64_t group)
{
    return group < 0 ? 0 : tki_get_index(c, v->ends, group);
}

static inline void tki_planted_skip(const tk_case *c, tki_planted_factor *f, int64_t elements)
{
    f->data = (const char *)f->data + elements * (int64_t)tk_dtype_size(c->dtype);
    f->count -= elements;
}

/* The product of one group: rows from `begin` to `end`, and a matrix of the right factor or of the output. */
static inline tki_planted_product tki_planted_group(const tk_case *c, tki_planted_product v, int64_t begin,
                                                    int64_t end, int64_t matrix)
{
    tki_planted_skip(c, &v.left, begin * (v.over_rows ? v.left.place_stride : v.left.line_stride));
    tki_planted_skip(c, &v.right, v.over_rows ? begin * v.right.place_stride : matrix * v.matrix);
    v.out = (char *)v.out +
            (v.over_rows ? matrix * v.matrix : begin * v.cols) * (int64_t)tk_dtype_size(c->result_dtype);
    *(v.over_rows ? &v.places : &v.rows) = end - begin;
    return v;
}

#define TKI_LINEAR_C 0.79788456080286535588 /* sqrt(2 / pi) */
#define TKI_LINEAR_A 0.044715

static inline double tki_linear_sigma(double x)
{
    return 1 / (1 + exp(-2 * TKI_LINEAR_C * (x + TKI_LINEAR_A * x * x * x)));
}

/* In double: good to fp32. */
static inline double tki_linear_gelu(double x)
{
    return x * tki_linear_sigma(x);
}

/* Beyond +-30 the product of 0 and infinity could occur; there it is 0 or 1 long since. */
static inline double tki_linear_derivative(double x)
{
    if (fabs(x) > 30)
        return x > 0 ? 1 : 0;
    const double sigma = tki_linear_sigma(x);
    return sigma + sigma * tki_linear_sigma(-x) * 2 * TKI_LINEAR_C * x * (1 + 3 * TKI_LINEAR_A * x * x);
}
