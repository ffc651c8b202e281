/* CHOOSES. The three products seen as one, for planted kernels: out[rows, cols] = left right, both factors decoded to fp32 and lying so that a
 * sum runs along memory: left[rows][places], right[cols][places]. */
#pragma once

#include <string.h>

#include "ops/mutant_products.h"

typedef struct tki_gemm_product {
    tki_planted_factor left, right;
    void *out;
    int64_t rows, cols, places;
} tki_gemm_product;

static inline tki_gemm_product tki_gemm_product_of(const tk_case *c, void *const b[])
{
    int64_t m = c->dims[0];
    int64_t n = c->dims[1];
    int64_t k = c->dims[2];
    if (!strcmp(c->contract->name, "gemm"))
        return (tki_gemm_product){tki_planted_by_rows(b[0], m, k), tki_planted_by_columns(b[1], n, k), b[2], m, n, k};
    if (!strcmp(c->contract->name, "gemm_grad_a"))
        return (tki_gemm_product){tki_planted_by_rows(b[0], m, n), tki_planted_by_rows(b[1], k, n), b[2], m, k, n};
    return (tki_gemm_product){tki_planted_by_columns(b[1], k, m), tki_planted_by_columns(b[0], n, m), b[2], k, n, m};
}
