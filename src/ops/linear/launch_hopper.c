/* A linear layer on Hopper: gemm's products, with the kernels of ops/linear/kernel_hopper.h in the place of the plain ones. */
#include "ops/linear/launch_hopper.h"

static tki_gemm_epilogue epilogue_of(const tki_linear_hopper *op, const tk_case *c)
{
    for (int i = 0; i < op->with_count; i++)
        if (tk_case_has(c, op->with[i].tensor))
            return op->with[i].epilogue;
    return TKI_GEMM_VECTOR;
}

static tki_gemm_hopper_product product_of(const tki_lowering *row, const tk_case *c, void *const buffers[])
{
    const tki_linear_hopper *op = row->kernels;
    const tki_linear_params p = op->params(c, buffers);
    const tki_gemm_factor left = {p.left.data, p.left.line_stride, p.left.inner_stride};
    const tki_gemm_factor right = {p.right.data, p.right.line_stride, p.right.inner_stride};
    return (tki_gemm_hopper_product){.params = {left, right, p.out, p.rows, p.cols, p.inner},
                                     .left_across = op->left_across,
                                     .right_across = op->right_across,
                                     .source = row->source,
                                     .epilogue = epilogue_of(op, c),
                                     .bias = p.bias,
                                     .with = p.pre ? p.pre : p.other,
                                     .second = p.unactivated};
}

tki_choice tki_linear_choose_hopper(const tki_lowering *row, const tk_case *c)
{
    const tki_gemm_hopper_product product = product_of(row, c, (void *[TK_MAX_PARAMS]){NULL});
    return tki_gemm_choose_hopper(&product, c->result_dtype == TK_F32);
}

int tki_linear_candidates_hopper(const tki_lowering *row, const tk_case *c, tki_choice *list, int most)
{
    const tki_gemm_hopper_product product = product_of(row, c, (void *[TK_MAX_PARAMS]){NULL});
    return tki_gemm_candidates_hopper(&product, c->result_dtype == TK_F32, list, most);
}

size_t tki_linear_scratch_hopper(const tki_call *call)
{
    const tki_gemm_hopper_product product = product_of(call->lowering, call->c, call->buffers);
    return tki_gemm_scratch_hopper(call, &product);
}

tk_status tki_linear_launch_hopper(const tki_call *call)
{
    const tki_gemm_hopper_product product = product_of(call->lowering, call->c, call->buffers);
    return tki_gemm_launch_hopper(call, &product);
}
