/* TRUSTED. The matrix product and its two gradients: what they promise. All three sum products of two numbers over one
 * of the sizes m, n, k, and have the same clauses. The exact value is in oracle.c, the kernels in kernel_cpu.c. */
#include "exact/product_bound.h"
#include "model/attributes.h"

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
#define OVERFLOW_TEXT                                                                                               \
    "bf16 and f32 only: where (1 + K u) times the sum of the finite |products| reaches 2^128 (1 - 2^-25), an fp32 " \
    "sum may "                                                                                                      \
    "overflow on the way, and infinities and NaN are admitted too; beside an infinite product, NaN is"
#define NAN_TEXT                                                                                                    \
    "NaN if some product is NaN (0 times infinity is: zeros may not be skipped) or infinities of both signs occur " \
    "among the products, and only then"
#define INF_TEXT "infinities of one sign among the products, and no NaN, give that infinity"
#define SHAPE_TEXT "any m, n and k, zero included, at any alignment of the element type; a sum over nothing is zero"
#define REPEAT_TEXT "the same inputs give the same bits on every run, at every address and thread count"

const tk_contract tki_gemm_contract = {
    .name = "gemm",
    .summary = "matrix product",
    .formula = "c = a b: c[i,j] = sum over t < k of a[i,t] b[t,j]",
    .bound = BOUND_TEXT("sum |a b|", "sum a' b'", "k"),
    .dim_count = 3,
    .dim_names = (const char *const[]){"m", "n", "k"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            {.name = "a", .kind = TK_KIND_VALUE, .rank = 2, .dim = {0, 2}, .inner_axis = 1, .may_alias = -1},
            {.name = "b", .kind = TK_KIND_VALUE, .rank = 2, .dim = {2, 1}, .inner_axis = 0, .may_alias = -1},
            {.name = "c",
             .output = true,
             .kind = TK_KIND_RESULT,
             .rank = 2,
             .dim = {0, 1},
             .inner_axis = -1,
             .may_alias = -1},
        },
    TKI_TYPES_SUM,
    .attribute_count = 3,
    .attributes = (const tk_attribute[]){TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE},
    .clause_count = 7,
    .clauses =
        (const tk_clause[]){
            [TKI_SUM_ERR] = {TK_CLAUSE_ERROR, "GEMM.ERR",
                             "for finite inputs, c is the rounding of some value within B of the exact one"},
            [TKI_SUM_OVERFLOW] = {TK_CLAUSE_VALUE, "GEMM.OVERFLOW", OVERFLOW_TEXT},
            [TKI_SUM_NAN] = {TK_CLAUSE_VALUE, "GEMM.NAN", NAN_TEXT},
            [TKI_SUM_INF] = {TK_CLAUSE_VALUE, "GEMM.INF", INF_TEXT},
            {TK_CLAUSE_WRITE, "GEMM.WRITE", "every c is written, nothing else is, and a and b stay as they were"},
            {TK_CLAUSE_SHAPE, "GEMM.SHAPE", SHAPE_TEXT},
            {TK_CLAUSE_REPEAT, "GEMM.REPEAT", REPEAT_TEXT},
        },
};

const tk_contract tki_gemm_grad_a_contract = {
    .name = "gemm_grad_a",
    .summary = "gradient of the matrix product by its left factor",
    .formula = "grad_a = grad_c b^T: grad_a[i,t] = sum over j < n of grad_c[i,j] b[t,j]",
    .bound = BOUND_TEXT("sum |grad_c b|", "sum grad_c' b'", "n"),
    .notes = "Also the forward pass of a linear layer whose weight is stored [out, in]: the activations [m, in] are "
             "grad_c with n = in, the weight is b with k = out.",
    .dim_count = 3,
    .dim_names = (const char *const[]){"m", "n", "k"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            {.name = "grad_c", .kind = TK_KIND_VALUE, .rank = 2, .dim = {0, 1}, .inner_axis = 1, .may_alias = -1},
            {.name = "b", .kind = TK_KIND_VALUE, .rank = 2, .dim = {2, 1}, .inner_axis = 1, .may_alias = -1},
            {.name = "grad_a",
             .output = true,
             .kind = TK_KIND_RESULT,
             .rank = 2,
             .dim = {0, 2},
             .inner_axis = -1,
             .may_alias = -1},
        },
    TKI_TYPES_SUM,
    .attribute_count = 3,
    .attributes = (const tk_attribute[]){TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE},
    .clause_count = 7,
    .clauses =
        (const tk_clause[]){
            [TKI_SUM_ERR] = {TK_CLAUSE_ERROR, "GEMM_GRAD_A.ERR",
                             "for finite inputs, grad_a is the rounding of some value within B of the exact one"},
            [TKI_SUM_OVERFLOW] = {TK_CLAUSE_VALUE, "GEMM_GRAD_A.OVERFLOW", OVERFLOW_TEXT},
            [TKI_SUM_NAN] = {TK_CLAUSE_VALUE, "GEMM_GRAD_A.NAN", NAN_TEXT},
            [TKI_SUM_INF] = {TK_CLAUSE_VALUE, "GEMM_GRAD_A.INF", INF_TEXT},
            {TK_CLAUSE_WRITE, "GEMM_GRAD_A.WRITE",
             "every grad_a is written, nothing else is, and grad_c and b stay as they were"},
            {TK_CLAUSE_SHAPE, "GEMM_GRAD_A.SHAPE", SHAPE_TEXT},
            {TK_CLAUSE_REPEAT, "GEMM_GRAD_A.REPEAT", REPEAT_TEXT},
        },
};

const tk_contract tki_gemm_grad_b_contract = {
    .name = "gemm_grad_b",
    .summary = "gradient of the matrix product by its right factor",
    .formula = "grad_b = a^T grad_c: grad_b[t,j] = sum over i < m of a[i,t] grad_c[i,j]",
    .bound = BOUND_TEXT("sum |a grad_c|", "sum a' grad_c'", "m"),
    .dim_count = 3,
    .dim_names = (const char *const[]){"m", "n", "k"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            {.name = "grad_c", .kind = TK_KIND_VALUE, .rank = 2, .dim = {0, 1}, .inner_axis = 0, .may_alias = -1},
            {.name = "a", .kind = TK_KIND_VALUE, .rank = 2, .dim = {0, 2}, .inner_axis = 0, .may_alias = -1},
            {.name = "grad_b",
             .output = true,
             .kind = TK_KIND_RESULT,
             .rank = 2,
             .dim = {2, 1},
             .inner_axis = -1,
             .may_alias = -1},
        },
    TKI_TYPES_SUM,
    .attribute_count = 3,
    .attributes = (const tk_attribute[]){TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE},
    .clause_count = 7,
    .clauses =
        (const tk_clause[]){
            [TKI_SUM_ERR] = {TK_CLAUSE_ERROR, "GEMM_GRAD_B.ERR",
                             "for finite inputs, grad_b is the rounding of some value within B of the exact one"},
            [TKI_SUM_OVERFLOW] = {TK_CLAUSE_VALUE, "GEMM_GRAD_B.OVERFLOW", OVERFLOW_TEXT},
            [TKI_SUM_NAN] = {TK_CLAUSE_VALUE, "GEMM_GRAD_B.NAN", NAN_TEXT},
            [TKI_SUM_INF] = {TK_CLAUSE_VALUE, "GEMM_GRAD_B.INF", INF_TEXT},
            {TK_CLAUSE_WRITE, "GEMM_GRAD_B.WRITE",
             "every grad_b is written, nothing else is, and grad_c and a stay as they were"},
            {TK_CLAUSE_SHAPE, "GEMM_GRAD_B.SHAPE", SHAPE_TEXT},
            {TK_CLAUSE_REPEAT, "GEMM_GRAD_B.REPEAT", REPEAT_TEXT},
        },
};
