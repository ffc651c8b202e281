/* UNTRUSTED. A call as a product, and products and layers on a GPU, as lowering.c calls them. */
#pragma once

#include "model/lowering.h"
#include "ops/product/contract.h"
#include "ops/product/params.h"

/* The factors, and what is done with the sums; of groups, as if there was one of all rows. */
tki_linear_params tki_product_params_of(const tk_case *c, void *const buffers[]);
static inline tki_gemm_params tki_plain_product_of(const tki_linear_params *p)
{
    return (tki_gemm_params){p->left, p->right, p->out, p->rows, p->cols, p->inner};
}

TK_MUST_USE tk_status tki_gemm_launch_gpu(const tki_call *call, const tki_gemm_params *p);
TK_MUST_USE tk_status tki_gemm_launch_tensor(const tki_call *call, const tki_gemm_params *p); /* on matrix units */
TK_MUST_USE tk_status tki_linear_launch_gpu(const tki_call *call, const tki_linear_params *p);
