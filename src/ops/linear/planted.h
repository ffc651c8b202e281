/* CHOOSES. The three ops of a linear layer seen as one, for planted kernels: out[rows, cols] of a product of two factors, both decoded to fp32 and
 * lying so that a sum runs along memory, and what is done with it. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/linear/contract.h"
#include "ops/mutant_products.h"

/* Tensors that are not there are NULL. */
typedef struct tki_linear_view {
    tki_planted_factor left, right;
    const void *bias;  /* [cols], of the inputs' type */
    const void *other; /* residual or before, [rows, cols], of the result's type */
    const void *pre;   /* an input, likewise */
    void *out, *unactivated;
    int64_t rows, cols, places;
} tki_linear_view;

static inline void *tki_linear_if_there(const tk_case *c, void *const b[], int param)
{
    return tk_case_has(c, param) ? b[param] : NULL;
}

static inline tki_linear_view tki_linear_view_of(const tk_case *c, void *const b[])
{
    const int64_t m = c->dims[0], n = c->dims[1], k = c->dims[2];
    if (!strcmp(c->contract->name, "linear_fwd"))
        return (tki_linear_view){.left = tki_planted_by_rows(b[TKI_LINEAR_X], m, k),
                                 .right = tki_planted_by_rows(b[TKI_LINEAR_W], n, k),
                                 .bias = tki_linear_if_there(c, b, TKI_LINEAR_BIAS_IN),
                                 .other = tki_linear_if_there(c, b, TKI_LINEAR_RESIDUAL_IN),
                                 .out = b[TKI_LINEAR_Y],
                                 .unactivated = tki_linear_if_there(c, b, TKI_LINEAR_PRE),
                                 .rows = m,
                                 .cols = n,
                                 .places = k};
    if (!strcmp(c->contract->name, "linear_grad_x"))
        return (tki_linear_view){.left = tki_planted_by_rows(b[TKI_LINEAR_GRAD_X_GRAD_Y], m, n),
                                 .right = tki_planted_by_columns(b[TKI_LINEAR_GRAD_X_W], k, n),
                                 .pre = tki_linear_if_there(c, b, TKI_LINEAR_GRAD_X_PRE),
                                 .out = b[TKI_LINEAR_GRAD_X_OUT],
                                 .rows = m,
                                 .cols = k,
                                 .places = n};
    return (tki_linear_view){.left = tki_planted_by_columns(b[TKI_LINEAR_GRAD_W_GRAD_Y], n, m),
                             .right = tki_planted_by_columns(b[TKI_LINEAR_GRAD_W_X], k, m),
                             .other = tki_linear_if_there(c, b, TKI_LINEAR_GRAD_W_BEFORE),
                             .out = b[TKI_LINEAR_GRAD_W_OUT],
                             .rows = n,
                             .cols = k,
                             .places = m};
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
