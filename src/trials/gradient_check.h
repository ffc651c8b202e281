/* CHOOSES. Is an op the gradient that its line `gradient of` says it is? */
#pragma once

#include "define/definition.h"

/* Of one output grad_x. */
typedef struct tki_gradient_found {
    int output; /* tensors[] */
    int64_t agree, differ;
    char first[200]; /* how the first one differs */
} tki_gradient_found;

typedef struct tki_gradient_check {
    int count;
    tki_gradient_found of[TK_MAX_PARAMS];
    int64_t kinks, undefined; /* elements of the op's outputs that were left out */
    char misfit[200];         /* why nothing was compared; "" */
} tki_gradient_check;

/* For drawn inputs x, directions d and cotangents w: <grad, d> = <w, J d>, with J d by forward mode. Always the same draws. Without such a line
 * `count` is 0. */
TK_MUST_USE tk_status tki_check_gradient(tk_ctx *ctx, const tk_contract *contract, tki_gradient_check *check);
