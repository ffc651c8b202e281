/* CHOOSES. The products of groups seen as one, for planted kernels: rows of outputs, each of a group, and sums over places. Factors are decoded to
 * fp32. */
#pragma once

#include <stdlib.h>

#include "ops/mutant_tools.h"

enum { TKI_GROUPED_M, TKI_GROUPED_N, TKI_GROUPED_K, TKI_GROUPED_G };
enum { TKI_GROUPED_FIRST, TKI_GROUPED_SECOND, TKI_GROUPED_ENDS, TKI_GROUPED_OUT };

/* Element (line, place) is data[line * line_stride + place * place_stride], of `count` that there are. */
typedef struct tki_grouped_factor {
    float *data;
    int64_t line_stride, place_stride, count;
} tki_grouped_factor;

typedef struct tki_grouped_product {
    bool over_rows; /* grad_b: the sums run over the rows of a group, and each group has a matrix of the output */
    tki_grouped_factor left, right;
    int64_t matrix;      /* elements between the right factors of two groups; grad_b: of the output */
    int64_t m, g;        /* all rows, groups */
    int64_t lines, cols; /* of the output: rows in all, or of one group's matrix */
    int64_t places;      /* of a sum, where it does not run over rows */
} tki_grouped_product;

static inline int64_t tki_grouped_end(const tk_case *c, void *const b[], int64_t group)
{
    return group < 0 ? 0 : tki_get_index(c, b[TKI_GROUPED_ENDS], group);
}

static inline float *tki_grouped_decoded(const tk_case *c, int param, const void *data)
{
    const int64_t count = tk_case_elements(c, param);
    float *decoded = malloc((size_t)(count + 1) * sizeof *decoded);
    for (int64_t i = 0; decoded && i < count; i++)
        decoded[i] = tki_get(c, data, i);
    return decoded;
}

static inline void tki_grouped_free(tki_grouped_product *v)
{
    free(v->left.data);
    free(v->right.data);
}

/* tki_grouped_free() it; false: memory ran out. */
static inline bool tki_grouped_product_of(const tk_case *c, void *const b[], tki_grouped_product *v)
{
    const int64_t n = c->dims[TKI_GROUPED_N], k = c->dims[TKI_GROUPED_K];
    const bool over_rows = c->contract->params[TKI_GROUPED_OUT].rank == 3;
    const bool grad_a = !over_rows && c->contract->params[TKI_GROUPED_OUT].dim[1] == TKI_GROUPED_K;
    const int left = over_rows ? TKI_GROUPED_SECOND : TKI_GROUPED_FIRST;
    const int right = over_rows ? TKI_GROUPED_FIRST : TKI_GROUPED_SECOND;
    *v = (tki_grouped_product){.over_rows = over_rows,
                               .matrix = k * n,
                               .m = c->dims[TKI_GROUPED_M],
                               .g = c->dims[TKI_GROUPED_G],
                               .lines = over_rows ? k : c->dims[TKI_GROUPED_M],
                               .cols = grad_a ? k : n,
                               .places = grad_a ? n : k};
    v->left = (tki_grouped_factor){tki_grouped_decoded(c, left, b[left]), over_rows ? 1 : v->places,
                                   over_rows ? k : 1, tk_case_elements(c, left)};
    v->right = (tki_grouped_factor){tki_grouped_decoded(c, right, b[right]), grad_a ? n : 1, grad_a ? 1 : n,
                                    tk_case_elements(c, right)};
    if (v->left.data && v->right.data)
        return true;
    tki_grouped_free(v);
    return false;
}

/* 0 beyond the factor, which a mistake leads to. */
static inline float tki_grouped_at(const tki_grouped_factor *f, int64_t line, int64_t place, int64_t offset)
{
    const int64_t at = offset + line * f->line_stride + place * f->place_stride;
    return at >= 0 && at < f->count ? f->data[at] : 0;
}
