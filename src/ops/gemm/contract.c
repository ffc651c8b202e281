/* DECIDES. The matrix product and its two gradients: what they promise. All three sum products of two numbers over one
 * of the sizes m, n, k, and have the same clauses. The exact value is in oracle.c, the kernels in kernel_cpu.c. */
#include "exact/product_bound.h"
#include "model/contract_parts.h"

#define BOUND_TEXT(sum, aligned, size)                                                                             \
    "B = (K' - 1) u " sum                                                                                          \
    ", K' = number of nonzero products, 0 if K' <= 1; bf16: plus (1 + K u) K 2^-150, K = " size                    \
    "; f32: B = K' u " sum                                                                                         \
    " + (1 + K u) K 2^-150, since products are rounded; any order of summation, FMA or not, fp32 accumulation. "   \
    "All by the type of the inputs; the rounding is to that of the output. Exact sums: B = 0 where " sum           \
    " <= 2^24 q, with q the unit of the left line times that of the right one, 2^-126 <= q <= 2^103; the unit of " \
    "a line is the largest power of two that divides all its elements. Numerics tensor_core: B = "                 \
    "(K' 2^-F + b (2^-F + 2^-23)) " aligned                                                                        \
    ", 0 if K' <= 1; bf16: plus b 2^-149; not for f32, which TF32 truncates; b = min(ceil(K/L), K'), L and F "     \
    "those of the matrix unit, x' = the larger of |x| and the type's smallest normal number, for x != 0; exact "   \
    "sums by " aligned

/* clang-format off */ /* one row below the other */

const tk_contract tki_gemm_contract = {
    .name = "gemm",
    .summary = "matrix product",
    .formula = "c = a b: c[i,j] = sum over t < k of a[i,t] b[t,j]",
    .bound = BOUND_TEXT("sum |a b|", "sum a' b'", "k"),
    TKI_SIZES("m", "n", "k"),
    TKI_PARAMS(
        TKI_INPUT("a", TK_KIND_VALUE, 1, TKI_SHAPE(0, 2)),
        TKI_INPUT("b", TK_KIND_VALUE, 0, TKI_SHAPE(2, 1)),
        TKI_OUTPUT("c", TK_KIND_RESULT, -1, TKI_SHAPE(0, 1))),
    TKI_SUM_TYPES_AND_NUMERICS,
    TKI_CLAUSES(
        [TKI_SUM_ERR] = TKI_ONE_ERROR_CLAUSE("GEMM.ERR", "c"),
        [TKI_SUM_OVERFLOW] = TKI_SUM_OVERFLOW_CLAUSE("GEMM.OVERFLOW"),
        [TKI_SUM_NAN] = TKI_SUM_NAN_CLAUSE("GEMM.NAN", ""),
        [TKI_SUM_INF] = TKI_SUM_INF_CLAUSE("GEMM.INF"),
        TKI_USUAL_CLAUSES("GEMM", "c", "a and b stay as they were", TKI_SUM_SHAPE_TEXT)),
};

const tk_contract tki_gemm_grad_a_contract = {
    .name = "gemm_grad_a",
    .summary = "gradient of the matrix product by its left factor",
    .formula = "grad_a = grad_c b^T: grad_a[i,t] = sum over j < n of grad_c[i,j] b[t,j]",
    .bound = BOUND_TEXT("sum |grad_c b|", "sum grad_c' b'", "n"),
    .notes = "Also the forward pass of a linear layer whose weight is stored [out, in]: the activations [m, in] are "
             "grad_c with n = in, the weight is b with k = out.",
    TKI_SIZES("m", "n", "k"),
    TKI_PARAMS(
        TKI_INPUT("grad_c", TK_KIND_VALUE, 1, TKI_SHAPE(0, 1)),
        TKI_INPUT("b", TK_KIND_VALUE, 1, TKI_SHAPE(2, 1)),
        TKI_OUTPUT("grad_a", TK_KIND_RESULT, -1, TKI_SHAPE(0, 2))),
    TKI_SUM_TYPES_AND_NUMERICS,
    TKI_CLAUSES(
        [TKI_SUM_ERR] = TKI_ONE_ERROR_CLAUSE("GEMM_GRAD_A.ERR", "grad_a"),
        [TKI_SUM_OVERFLOW] = TKI_SUM_OVERFLOW_CLAUSE("GEMM_GRAD_A.OVERFLOW"),
        [TKI_SUM_NAN] = TKI_SUM_NAN_CLAUSE("GEMM_GRAD_A.NAN", ""),
        [TKI_SUM_INF] = TKI_SUM_INF_CLAUSE("GEMM_GRAD_A.INF"),
        TKI_USUAL_CLAUSES("GEMM_GRAD_A", "grad_a", "grad_c and b stay as they were", TKI_SUM_SHAPE_TEXT)),
};

const tk_contract tki_gemm_grad_b_contract = {
    .name = "gemm_grad_b",
    .summary = "gradient of the matrix product by its right factor",
    .formula = "grad_b = a^T grad_c: grad_b[t,j] = sum over i < m of a[i,t] grad_c[i,j]",
    .bound = BOUND_TEXT("sum |a grad_c|", "sum a' grad_c'", "m"),
    TKI_SIZES("m", "n", "k"),
    TKI_PARAMS(
        TKI_INPUT("grad_c", TK_KIND_VALUE, 0, TKI_SHAPE(0, 1)),
        TKI_INPUT("a", TK_KIND_VALUE, 0, TKI_SHAPE(0, 2)),
        TKI_OUTPUT("grad_b", TK_KIND_RESULT, -1, TKI_SHAPE(2, 1))),
    TKI_SUM_TYPES_AND_NUMERICS,
    TKI_CLAUSES(
        [TKI_SUM_ERR] = TKI_ONE_ERROR_CLAUSE("GEMM_GRAD_B.ERR", "grad_b"),
        [TKI_SUM_OVERFLOW] = TKI_SUM_OVERFLOW_CLAUSE("GEMM_GRAD_B.OVERFLOW"),
        [TKI_SUM_NAN] = TKI_SUM_NAN_CLAUSE("GEMM_GRAD_B.NAN", ""),
        [TKI_SUM_INF] = TKI_SUM_INF_CLAUSE("GEMM_GRAD_B.INF"),
        TKI_USUAL_CLAUSES("GEMM_GRAD_B", "grad_b", "grad_c and a stay as they were", TKI_SUM_SHAPE_TEXT)),
};

/* clang-format on */
