/* The three products seen as one, for planted kernels: out[rows, cols] = left right, both factors decoded to fp32 and lying so that a
 * sum runs along memory: left[rows][places], right[cols][places]. */
#ifndef TKI_OPS_GEMM_PLANTED_H
#define TKI_OPS_GEMM_PLANTED_H

#include <stdlib.h>
#include <string.h>

#include "ops/mutant_tools.h"

/* Element (line, place) of a factor is data[line * line_stride + place * place_stride]. */
typedef struct tki_gemm_factor {
    const void *data;
    int64_t line_stride, place_stride, count;
} tki_gemm_factor;

typedef struct tki_gemm_product {
    tki_gemm_factor left, right;
    void *out;
    int64_t rows, cols, places;
} tki_gemm_product;

static inline tki_gemm_factor tki_gemm_by_rows(const void *data, int64_t lines, int64_t places)
{
    return (tki_gemm_factor){data, places, 1, lines * places};
}

static inline tki_gemm_factor tki_gemm_by_columns(const void *data, int64_t lines, int64_t places)
{
    return (tki_gemm_factor){data, 1, lines, lines * places};
}

static inline tki_gemm_product tki_gemm_product_of(const tk_case *c, void *const b[])
{
    int64_t m = c->dims[0];
    int64_t n = c->dims[1];
    int64_t k = c->dims[2];
    if (!strcmp(c->contract->name, "gemm"))
        return (tki_gemm_product){tki_gemm_by_rows(b[0], m, k), tki_gemm_by_columns(b[1], n, k), b[2], m, n, k};
    if (!strcmp(c->contract->name, "gemm_grad_a"))
        return (tki_gemm_product){tki_gemm_by_rows(b[0], m, n), tki_gemm_by_rows(b[1], k, n), b[2], m, k, n};
    return (tki_gemm_product){tki_gemm_by_columns(b[1], k, m), tki_gemm_by_columns(b[0], n, m), b[2], k, n, m};
}

/* free() it; NULL when memory ran out. Places outside, which a wrong stride leads to, wrap round; a factor without elements is
 * zero. */
static inline float *tki_gemm_decoded(const tk_case *c, const tki_gemm_factor *f, int64_t lines, int64_t places)
{
    float *decoded = malloc((size_t)(lines * places + 1) * sizeof *decoded);
    for (int64_t line = 0; decoded && line < lines; line++)
        for (int64_t place = 0; place < places; place++) {
            int64_t at = line * f->line_stride + place * f->place_stride;
            decoded[line * places + place] = f->count ? tki_get(c, f->data, at < f->count ? at : at % f->count) : 0;
        }
    return decoded;
}

#endif
