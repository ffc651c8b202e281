/* DECIDES. The matrix product, a linear layer whose weight is stored [out, in] with what usually follows it, products of groups of rows, each with a
 * matrix of its own, and the gradients of all three: what they promise. All sum products of two numbers over one of the sizes m, n, k; to
 * layers further terms are added, and two of them may go through gelu or its derivative. The exact values are in oracle.c. */
#include "ops/product/contract.h"

#include "exact/gelu_bound.h"
#include "exact/product_bound.h"
#include "model/contract_parts.h"

enum { M, N, K, G };

#define BOUND_TEXT(sum, aligned, size)                                                                             \
    "B = (K' - 1) u " sum                                                                                          \
    ", K' = number of nonzero products, 0 if K' <= 1; bf16: plus (1 + K u) K 2^-150, K = " size                    \
    "; f32: B = K' u " sum                                                                                         \
    " + (1 + K u) K 2^-150, since products are rounded; any order of summation, FMA or not, fp32 accumulation. "   \
    "All by the type of the inputs; the rounding is to that of the output. Exact sums: B = 0 where " sum           \
    " <= 2^24 q, with q the unit of the left line times that of the right one, 2^-126 <= q <= 2^103; the unit of " \
    "a line is the largest power of two that divides all its elements. Numerics tensor_core: B = "                 \
    "(K' 2^-F + b (2^-F + 2^-23)) " aligned ", 0 if K' <= 1; bf16: plus b 2^-149; not for f32, which TF32 "        \
    "truncates, nor for 8 bits; b = min(ceil(K/L), K'), L and F "                                                  \
    "those of the matrix unit, x' = the larger of |x| and the type's smallest normal number, for x != 0; exact "   \
    "sums by " aligned

#define LAYER_BOUND_TEXT(products, size, extras)                                                                   \
    "e = (n - 1) u (sum |" products "| + " extras "), n = number of nonzero terms, products and " extras           \
    " alike; bf16: plus (1 + (K + 2) u) K 2^-150, K = " size                                                       \
    "; f32: n for n - 1, with the same term. Numerics tensor_core: gemm's bound with these terms in its sum and "  \
    "among "                                                                                                       \
    "what its accumulator may hold, plus u of all for each that is added afterwards. Exact sums: e = 0 where all " \
    "terms are multiples of a power of two q, 2^-126 <= q <= 2^103, and add up to at most 2^24 q in magnitude"
#define OVERFLOW_TEXT                                                                                             \
    "bf16 and f32, or f32 results: where (1 + (K + 2) u) times the sum of the finite |terms| reaches "            \
    "2^128 (1 - 2^-25), an fp32 sum may overflow on the way, and infinities and NaN are admitted too; beside an " \
    "infinite term, NaN is"

#define WITH(choice) (UINT64_C(1) << (choice))

/* clang-format off */ /* one row below the other */

#define SUM_CLAUSES(OP, output, nan_more)                                                                                 \
    [TKI_SUM_ERR] = TKI_ONE_ERROR_CLAUSE(OP ".ERR", output), [TKI_SUM_OVERFLOW] = TKI_SUM_OVERFLOW_CLAUSE(OP ".OVERFLOW"), \
    [TKI_SUM_NAN] = TKI_SUM_NAN_CLAUSE(OP ".NAN", nan_more), [TKI_SUM_INF] = TKI_SUM_INF_CLAUSE(OP ".INF")

/* -- Products ---------------------------------------------------------------------------------------------------- */

#define LEFT_FIRST(left, right, bias, result) left, right, result
#define RIGHT_FIRST(left, right, bias, result) right, left, result
#define PRODUCT_CLAUSES(OP, output, inputs_stay)                                                                          \
    TKI_CLAUSES(SUM_CLAUSES(OP, output, ""), TKI_WRITES(output, inputs_stay), TKI_TAKES(TKI_SUM_SHAPE_TEXT))

const tk_contract tki_gemm_contract = {
    .name = "gemm",
    .summary = "matrix product",
    .formula = "c = a b: c[i,j] = sum over t < k of a[i,t] b[t,j]",
    .bound = BOUND_TEXT("sum |a b|", "sum a' b'", "k"),
    TKI_SIZES("m", "n", "k"),
    TKI_PARAMS(
        TKI_INPUT("a", TK_KIND_VALUE, 1, TKI_SHAPE(M, K)),
        TKI_INPUT("b", TK_KIND_VALUE, 0, TKI_SHAPE(K, N)),
        TKI_OUTPUT("c", TK_KIND_RESULT, -1, TKI_SHAPE(M, N))),
    TKI_PRODUCT_TYPES_AND_NUMERICS(LEFT_FIRST),
    PRODUCT_CLAUSES("GEMM", "c", "a and b stay as they were"),
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
        TKI_INPUT("grad_c", TK_KIND_VALUE, 1, TKI_SHAPE(M, N)),
        TKI_INPUT("b", TK_KIND_VALUE, 1, TKI_SHAPE(K, N)),
        TKI_OUTPUT("grad_a", TK_KIND_RESULT, -1, TKI_SHAPE(M, K))),
    TKI_PRODUCT_TYPES_AND_NUMERICS(LEFT_FIRST),
    PRODUCT_CLAUSES("GEMM_GRAD_A", "grad_a", "grad_c and b stay as they were"),
};

const tk_contract tki_gemm_grad_b_contract = {
    .name = "gemm_grad_b",
    .summary = "gradient of the matrix product by its right factor",
    .formula = "grad_b = a^T grad_c: grad_b[t,j] = sum over i < m of a[i,t] grad_c[i,j]",
    .bound = BOUND_TEXT("sum |a grad_c|", "sum a' grad_c'", "m"),
    TKI_SIZES("m", "n", "k"),
    TKI_PARAMS(
        TKI_INPUT("grad_c", TK_KIND_VALUE, 0, TKI_SHAPE(M, N)),
        TKI_INPUT("a", TK_KIND_VALUE, 0, TKI_SHAPE(M, K)),
        TKI_OUTPUT("grad_b", TK_KIND_RESULT, -1, TKI_SHAPE(K, N))),
    TKI_PRODUCT_TYPES_AND_NUMERICS(RIGHT_FIRST),
    PRODUCT_CLAUSES("GEMM_GRAD_B", "grad_b", "grad_c and a stay as they were"),
};

/* -- Layers ------------------------------------------------------------------------------------------------------ */

#define FORWARD(left, right, bias, result) left, right, bias, result, result, result
#define BACKWARD(left, right, bias, result) left, right, result, result
#define LAYER_ATTRIBUTES(ROW, ...)                                                                                        \
    TKI_TYPES_SUM_AND_8_BITS(ROW), .refusal = tki_numerics_refusal,                                                            \
        TKI_ATTRIBUTES(TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE, __VA_ARGS__,              \
                       TKI_OVERFLOW_ATTRIBUTE(TKI_OVERFLOW_SATURATE))

const tk_contract tki_linear_fwd_contract = {
    .name = "linear_fwd",
    .summary = "linear layer with bias, gelu or residual",
    .formula =
        "v = x w^T + bias + residual: v[i,j] = sum over t < k of x[i,t] w[j,t] + bias[j] + residual[i,j], with the "
        "terms that the epilogue has; y = v, or gelu(v) in its tanh form, and then pre = v",
    .bound = LAYER_BOUND_TEXT(
        "x w", "k",
        "|bias| + |residual|") ". Without gelu B = e; of pre too. With gelu "
                               "B = e min(|g'(v)| + e, 1.13) + the largest B of gelu_fwd at arguments within e of v",
    .notes = "pre is what linear_grad_x of the next layer reads.",
    TKI_SIZES("m", "n", "k"),
    TKI_PARAMS(
        [TKI_LINEAR_X] = TKI_INPUT("x", TK_KIND_VALUE, 1, TKI_SHAPE(0, 2)),
        [TKI_LINEAR_W] = TKI_INPUT("w", TK_KIND_VALUE, 1, TKI_SHAPE(1, 2)),
        [TKI_LINEAR_BIAS_IN] = TKI_INPUT("bias", TK_KIND_VALUE, -1, TKI_SHAPE(1),
                                         TKI_WHEN(TKI_LINEAR_EPILOGUE, WITH(TKI_LINEAR_BIAS) |
                                                                           WITH(TKI_LINEAR_BIAS_GELU) |
                                                                           WITH(TKI_LINEAR_BIAS_RESIDUAL))),
        [TKI_LINEAR_RESIDUAL_IN] = TKI_INPUT(
            "residual", TK_KIND_RESULT, -1, TKI_SHAPE(0, 1),
            TKI_WHEN(TKI_LINEAR_EPILOGUE, WITH(TKI_LINEAR_BIAS_RESIDUAL) | WITH(TKI_LINEAR_RESIDUAL))),
        [TKI_LINEAR_Y] = TKI_OUTPUT("y", TK_KIND_RESULT, -1, TKI_SHAPE(0, 1)),
        [TKI_LINEAR_PRE] = TKI_OUTPUT(
            "pre", TK_KIND_RESULT, -1, TKI_SHAPE(0, 1),
            TKI_WHEN(TKI_LINEAR_EPILOGUE, WITH(TKI_LINEAR_BIAS_GELU) | WITH(TKI_LINEAR_GELU)))),
    LAYER_ATTRIBUTES(FORWARD,
        [TKI_LINEAR_EPILOGUE] =
            {.name = "epilogue",
             .text = "what is done with the product before it is rounded",
             .choice_count = TKI_LINEAR_EPILOGUES,
             .choices = (const tk_choice[]){[TKI_LINEAR_BIAS] = {"bias", "y = x w^T + bias"},
                                            [TKI_LINEAR_BIAS_GELU] =
                                                {"bias_gelu", "pre = x w^T + bias, y = gelu of it unrounded"},
                                            [TKI_LINEAR_GELU] = {"gelu", "pre = x w^T, y = gelu of it unrounded"},
                                            [TKI_LINEAR_BIAS_RESIDUAL] = {"bias_residual",
                                                                          "y = x w^T + bias + residual"},
                                            [TKI_LINEAR_RESIDUAL] = {"residual", "y = x w^T + residual"},
                                            [TKI_LINEAR_NONE] = {"none", "y = x w^T"}},
             .seen_by_kernel = true}),
    TKI_CLAUSES(
        [TKI_SUM_ERR] =
            {TK_CLAUSE_ERROR, "LINEAR_FWD.ERR",
             "for finite inputs, y and pre are the roundings of some values within B of the exact ones"},
        [TKI_SUM_OVERFLOW] = {TK_CLAUSE_VALUE, "LINEAR_FWD.OVERFLOW", OVERFLOW_TEXT},
        [TKI_SUM_NAN] = {TK_CLAUSE_VALUE, "LINEAR_FWD.NAN",
                         "NaN if some term of v is NaN (0 times infinity is) or infinities of both signs occur "
                         "among the terms"},
        [TKI_SUM_INF] =
            {TK_CLAUSE_VALUE, "LINEAR_FWD.INF",
             "infinities of one sign among the terms, and no NaN, give that infinity; gelu of -inf is "
             "NaN or 0"},
        TKI_SAYS(TK_CLAUSE_WRITE, "every y is written, and every pre where it is there; nothing else is, and " TKI_INPUTS_STAY),
        TKI_TAKES(TKI_SUM_SHAPE_TEXT)),
};

const tk_contract tki_linear_grad_x_contract = {
    .name = "linear_grad_x",
    .summary = "gradient of a linear layer by its input, or by what gelu made that input of",
    .formula = "s = grad_y w: s[i,t] = sum over j < n of grad_y[i,j] w[j,t]; grad_x = s, or s g'(pre) with g' as in "
               "gelu_bwd",
    .bound = LAYER_BOUND_TEXT("grad_y w", "n",
                      "nothing else") ". Without gelu B = e. With gelu B = |g'| e + (|s| + e) b + 2^-150, "
                                      "b the bound of gelu_bwd for grad_output = 1 without its last term; f32 "
                                      "results: without 2^-150",
    .notes = "pre is that of the layer whose gelu gave x.",
    TKI_SIZES("m", "n", "k"),
    TKI_PARAMS(
        [TKI_LINEAR_GRAD_X_GRAD_Y] = TKI_INPUT("grad_y", TK_KIND_VALUE, 1, TKI_SHAPE(0, 1)),
        [TKI_LINEAR_GRAD_X_W] = TKI_INPUT("w", TK_KIND_VALUE, 0, TKI_SHAPE(1, 2)),
        [TKI_LINEAR_GRAD_X_PRE] = TKI_INPUT("pre", TK_KIND_RESULT, -1, TKI_SHAPE(0, 2),
                                            TKI_WHEN(TKI_LINEAR_EPILOGUE, WITH(TKI_LINEAR_GRAD_GELU))),
        [TKI_LINEAR_GRAD_X_OUT] = TKI_OUTPUT("grad_x", TK_KIND_RESULT, -1, TKI_SHAPE(0, 2))),
    LAYER_ATTRIBUTES(BACKWARD,
        [TKI_LINEAR_EPILOGUE] =
            {.name = "epilogue",
             .text = "what is done with the product before it is rounded",
             .choice_count = 2,
             .choices = (const tk_choice[]){[TKI_LINEAR_GRAD_PLAIN] = {"none", "grad_x = grad_y w"},
                                            [TKI_LINEAR_GRAD_GELU] = {"gelu", "grad_x = (grad_y w) g'(pre)"}},
             .seen_by_kernel = true}),
    TKI_CLAUSES(
        [TKI_SUM_ERR] = TKI_ONE_ERROR_CLAUSE("LINEAR_GRAD_X.ERR", "grad_x"),
        [TKI_SUM_OVERFLOW] = {TK_CLAUSE_VALUE, "LINEAR_GRAD_X.OVERFLOW", OVERFLOW_TEXT},
        [TKI_SUM_NAN] =
            {TK_CLAUSE_VALUE, "LINEAR_GRAD_X.NAN",
             "NaN if pre or some product is NaN (0 times infinity is) or infinities of both signs occur "
             "among the products"},
        [TKI_SUM_INF] =
            {TK_CLAUSE_VALUE, "LINEAR_GRAD_X.INF",
             "infinities of one sign among the products give s, that infinity; with gelu what gelu_bwd "
             "admits for grad_output = s: s of the sign of g', NaN also where |g'| < 2^-126; pre = +inf "
             "gives NaN or s; pre = -inf gives NaN, or 0 if s is finite"},
        TKI_FOLLOWS(TK_CLAUSE_WRITE),
        TKI_TAKES(TKI_SUM_SHAPE_TEXT)),
};

const tk_contract tki_linear_grad_w_contract = {
    .name = "linear_grad_w",
    .summary = "gradient of a linear layer by its weight, alone or added to what is there",
    .formula = "grad_w = grad_y^T x, or before + grad_y^T x: grad_w[j,t] = sum over i < m of grad_y[i,j] x[i,t] + "
               "before[j,t]",
    .bound = LAYER_BOUND_TEXT("grad_y x", "m", "|before|") ". B = e",
    .notes = "With fp32 results and grad_w in the place of before, gradients of 16-bit layers add up in fp32.",
    TKI_SIZES("m", "n", "k"),
    TKI_PARAMS(
        [TKI_LINEAR_GRAD_W_GRAD_Y] = TKI_INPUT("grad_y", TK_KIND_VALUE, 0, TKI_SHAPE(0, 1)),
        [TKI_LINEAR_GRAD_W_X] = TKI_INPUT("x", TK_KIND_VALUE, 0, TKI_SHAPE(0, 2)),
        [TKI_LINEAR_GRAD_W_BEFORE] = TKI_INPUT("before", TK_KIND_RESULT, -1, TKI_SHAPE(1, 2),
                                               TKI_WHEN(TKI_LINEAR_ACCUMULATE, WITH(TKI_LINEAR_ADD))),
        [TKI_LINEAR_GRAD_W_OUT] = TKI_OUTPUT("grad_w", TK_KIND_RESULT, TKI_LINEAR_GRAD_W_BEFORE, TKI_SHAPE(1, 2))),
    LAYER_ATTRIBUTES(BACKWARD,
        [TKI_LINEAR_ACCUMULATE] =
            {.name = "accumulate",
             .text = "is the gradient added to what is there?",
             .choice_count = 2,
             .choices = (const tk_choice[]){[TKI_LINEAR_OVERWRITE] = {"no", "grad_w = grad_y^T x"},
                                            [TKI_LINEAR_ADD] = {"yes", "grad_w = before + grad_y^T x"}},
             .seen_by_kernel = true}),
    TKI_CLAUSES(
        [TKI_SUM_ERR] = TKI_ONE_ERROR_CLAUSE("LINEAR_GRAD_W.ERR", "grad_w"),
        [TKI_SUM_OVERFLOW] = {TK_CLAUSE_VALUE, "LINEAR_GRAD_W.OVERFLOW", OVERFLOW_TEXT},
        [TKI_SUM_NAN] =
            {TK_CLAUSE_VALUE, "LINEAR_GRAD_W.NAN",
             "NaN if some term is NaN (0 times infinity is) or infinities of both signs occur among the "
             "terms, and only then"},
        [TKI_SUM_INF] = {TK_CLAUSE_VALUE, "LINEAR_GRAD_W.INF",
                         "infinities of one sign among the terms, and no NaN, give that infinity"},
        TKI_WRITES("grad_w", "grad_y and x stay as they were"),
        TKI_TAKES(TKI_SUM_SHAPE_TEXT)),
};

/* -- Products of groups ------------------------------------------------------------------------------------------ */

#define GROUPS_BOUND_TEXT(sum, size)                             \
    "that of gemm for the sum of " sum ", with K = " size \
    "; exact sums and numerics as there; 0 for a sum over nothing"
#define INDEX_TEXT TKI_INDEX_TEXT("an end outside [0, m], or less than the one before it,")
#define SHAPE_TEXT                                                                                              \
    "any m, n, k and g, zero included, groups of any sizes, at any alignment of the element types; a sum over " \
    "nothing is zero"
#define GROUPS_TEXT                                                                                                \
    "Group i has the rows from ends[i-1], or 0 for the first, up to ends[i]. Ends ascend and are at most m. Rows " \
    "behind the last end are of no group. "

#define ENDS TKI_INDICES("ends", M, TKI_SHAPE(G), .rule = TK_INDICES_ENDS)

#define GROUPS_CLAUSES(OP, output)                                                                                        \
    TKI_CLAUSES(SUM_CLAUSES(OP, output, ": no product is of another group"), TKI_SAYS(TK_CLAUSE_INDEX, INDEX_TEXT), \
                TKI_FOLLOWS(TK_CLAUSE_WRITE), TKI_TAKES(SHAPE_TEXT))

const tk_contract tki_grouped_gemm_contract = {
    .name = "grouped_gemm",
    .summary = "matrix products of groups of rows, each by a matrix of its own",
    .formula = "c[i,j] = sum over t < k of a[i,t] b[e,t,j], row i being of group e; 0 for rows of no group",
    .bound = GROUPS_BOUND_TEXT("|a b|", "k"),
    .notes = GROUPS_TEXT "Equal groups make it a batched product.",
    TKI_SIZES("m", "n", "k", "g"),
    TKI_PARAMS(
        TKI_INPUT("a", TK_KIND_VALUE, 1, TKI_SHAPE(M, K)),
        TKI_INPUT("b", TK_KIND_VALUE, 1, TKI_SHAPE(G, K, N)),
        ENDS,
        TKI_OUTPUT("c", TK_KIND_RESULT, -1, TKI_SHAPE(M, N))),
    TKI_SUM_TYPES_AND_NUMERICS,
    GROUPS_CLAUSES("GROUPED_GEMM", "c"),
};

const tk_contract tki_grouped_gemm_grad_a_contract = {
    .name = "grouped_gemm_grad_a",
    .summary = "gradient of the products of groups by their rows",
    .formula = "grad_a[i,t] = sum over j < n of grad_c[i,j] b[e,t,j], row i being of group e; 0 for rows of no group",
    .bound = GROUPS_BOUND_TEXT("|grad_c b|", "n"),
    .notes = GROUPS_TEXT "Also the forward pass where each matrix is stored [out, in].",
    TKI_SIZES("m", "n", "k", "g"),
    TKI_PARAMS(
        TKI_INPUT("grad_c", TK_KIND_VALUE, 1, TKI_SHAPE(M, N)),
        TKI_INPUT("b", TK_KIND_VALUE, 2, TKI_SHAPE(G, K, N)),
        ENDS,
        TKI_OUTPUT("grad_a", TK_KIND_RESULT, -1, TKI_SHAPE(M, K))),
    TKI_SUM_TYPES_AND_NUMERICS,
    GROUPS_CLAUSES("GROUPED_GEMM_GRAD_A", "grad_a"),
};

const tk_contract tki_grouped_gemm_grad_b_contract = {
    .name = "grouped_gemm_grad_b",
    .summary = "gradient of the products of groups by their matrices",
    .formula = "grad_b[e,t,j] = sum over the rows i of group e of a[i,t] grad_c[i,j]",
    .bound = GROUPS_BOUND_TEXT("|a grad_c|", "the number of the group's rows"),
    .notes = GROUPS_TEXT "The gradient of a group without rows is zero.",
    TKI_SIZES("m", "n", "k", "g"),
    TKI_PARAMS(
        TKI_INPUT("grad_c", TK_KIND_VALUE, 0, TKI_SHAPE(M, N)),
        TKI_INPUT("a", TK_KIND_VALUE, 0, TKI_SHAPE(M, K)),
        ENDS,
        TKI_OUTPUT("grad_b", TK_KIND_RESULT, -1, TKI_SHAPE(G, K, N))),
    TKI_SUM_TYPES_AND_NUMERICS,
    GROUPS_CLAUSES("GROUPED_GEMM_GRAD_B", "grad_b"),
};

/* clang-format on */
