/* DECIDES. What the contracts of products say beside their texts: which tensor is what, and the attributes of layers. */
#pragma once

#include <string.h>

#include "tokitai.h"

/* What a tensor is to a product out[rows, cols] = left right, of which the sums run over a size `inner`: its number in the contract, or -1. A factor
 * lies across the sum where its lines are columns in memory. Of products of groups the last two axes are meant. */
typedef struct tki_product_roles {
    int rows, cols, inner; /* sizes */
    int left, right, out;
    bool left_across, right_across;
    int ends;             /* one product for each group */
    bool over_rows;       /* the groups are of the places of the sums, and the output has a matrix for each */
    int bias, other, pre; /* what is added, [cols] and [rows, cols]; what gelu's derivative is taken at */
    int unactivated;      /* what gelu is taken of, an output too */
} tki_product_roles;

/* The factor that has the size as one of its last two axes; the other one is summed over. */
static inline int tki_factor_with(const tk_contract *contract, int dim, bool *across, int *inner)
{
    int p = 0;
    while (contract->params[p].rank < 2 || (contract->params[p].dim[contract->params[p].rank - 2] != dim &&
                                            contract->params[p].dim[contract->params[p].rank - 1] != dim))
        p++;
    const int *axes = contract->params[p].dim + contract->params[p].rank - 2;
    *across = axes[1] == dim;
    *inner = axes[*across ? 0 : 1];
    return p;
}

static inline tki_product_roles tki_product_roles_of(const tk_contract *contract)
{
    tki_product_roles r = {.ends = -1, .bias = -1, .other = -1, .pre = -1, .unactivated = -1};
    for (int p = 0; p < contract->param_count; p++) {
        const tk_param *param = &contract->params[p];
        const bool further = param->when_choices != 0;
        int *role = param->output                  ? further ? &r.unactivated : &r.out
                    : param->kind == TK_KIND_INDEX ? &r.ends
                    : !further                     ? NULL
                    : param->rank == 1             ? &r.bias
                    : !strcmp(param->name, "pre")  ? &r.pre
                                                   : &r.other;
        if (role)
            *role = p;
    }
    const tk_param *out = &contract->params[r.out];
    r.over_rows = out->rank == 3;
    r.rows = out->dim[out->rank - 2];
    r.cols = out->dim[out->rank - 1];
    r.left = tki_factor_with(contract, r.rows, &r.left_across, &r.inner);
    r.right = tki_factor_with(contract, r.cols, &r.right_across, &r.inner);
    return r;
}

static inline bool tki_is_layer(const tki_product_roles *r)
{
    return r->bias >= 0 || r->other >= 0 || r->pre >= 0;
}

/* Is there such a tensor, in this case? */
static inline bool tki_product_has(const tk_case *c, int param)
{
    return param >= 0 && tk_case_has(c, param);
}

/* The place of linear_fwd's and linear_grad_x's `epilogue`, and of linear_grad_w's `accumulate`. */
enum { TKI_LINEAR_EPILOGUE = 3, TKI_LINEAR_ACCUMULATE = 3 };

/* linear_fwd */
enum {
    TKI_LINEAR_BIAS,
    TKI_LINEAR_BIAS_GELU,
    TKI_LINEAR_GELU,
    TKI_LINEAR_BIAS_RESIDUAL,
    TKI_LINEAR_RESIDUAL,
    TKI_LINEAR_NONE,
    TKI_LINEAR_EPILOGUES
};
enum { TKI_LINEAR_X, TKI_LINEAR_W, TKI_LINEAR_BIAS_IN, TKI_LINEAR_RESIDUAL_IN, TKI_LINEAR_Y, TKI_LINEAR_PRE };

/* linear_grad_x */
enum { TKI_LINEAR_GRAD_PLAIN, TKI_LINEAR_GRAD_GELU };
enum { TKI_LINEAR_GRAD_X_GRAD_Y, TKI_LINEAR_GRAD_X_W, TKI_LINEAR_GRAD_X_PRE, TKI_LINEAR_GRAD_X_OUT };

/* linear_grad_w */
enum { TKI_LINEAR_OVERWRITE, TKI_LINEAR_ADD };
enum { TKI_LINEAR_GRAD_W_GRAD_Y, TKI_LINEAR_GRAD_W_X, TKI_LINEAR_GRAD_W_BEFORE, TKI_LINEAR_GRAD_W_OUT };
