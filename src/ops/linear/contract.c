/* DECIDES. A linear layer, whose weight is stored [out, in], with what usually follows it, and its gradients: what they promise. All three
 * are sums of products with further terms; two of them may go through gelu or its derivative. The exact value is in oracle.c. */
#include "ops/linear/contract.h"

#include "exact/gelu_bound.h"
#include "exact/product_bound.h"
#include "model/contract_parts.h"

#define SUM_TEXT(products, size, extras)                                                                           \
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

const tk_contract tki_linear_fwd_contract = {
    .name = "linear_fwd",
    .summary = "linear layer with bias, gelu or residual",
    .formula =
        "v = x w^T + bias + residual: v[i,j] = sum over t < k of x[i,t] w[j,t] + bias[j] + residual[i,j], with the "
        "terms that the epilogue has; y = v, or gelu(v) in its tanh form, and then pre = v",
    .bound = SUM_TEXT(
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
    TKI_TYPES_SUM,
    .refusal = tki_numerics_refusal,
    TKI_ATTRIBUTES(
        TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE,
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
        {TK_CLAUSE_WRITE, "LINEAR_FWD.WRITE",
         "every y is written, and every pre where it is there; nothing else is, and the inputs stay as they "
         "were"},
        {TK_CLAUSE_SHAPE, "LINEAR_FWD.SHAPE", TKI_SUM_SHAPE_TEXT},
        {TK_CLAUSE_REPEAT, "LINEAR_FWD.REPEAT", TKI_REPEAT_TEXT}),
};

const tk_contract tki_linear_grad_x_contract = {
    .name = "linear_grad_x",
    .summary = "gradient of a linear layer by its input, or by what gelu made that input of",
    .formula = "s = grad_y w: s[i,t] = sum over j < n of grad_y[i,j] w[j,t]; grad_x = s, or s g'(pre) with g' as in "
               "gelu_bwd",
    .bound = SUM_TEXT("grad_y w", "n",
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
    TKI_TYPES_SUM,
    .refusal = tki_numerics_refusal,
    TKI_ATTRIBUTES(
        TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE,
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
        TKI_USUAL_CLAUSES("LINEAR_GRAD_X", "grad_x", TKI_INPUTS_STAY, TKI_SUM_SHAPE_TEXT)),
};

const tk_contract tki_linear_grad_w_contract = {
    .name = "linear_grad_w",
    .summary = "gradient of a linear layer by its weight, alone or added to what is there",
    .formula = "grad_w = grad_y^T x, or before + grad_y^T x: grad_w[j,t] = sum over i < m of grad_y[i,j] x[i,t] + "
               "before[j,t]",
    .bound = SUM_TEXT("grad_y x", "m", "|before|") ". B = e",
    .notes = "With fp32 results and grad_w in the place of before, gradients of 16-bit layers add up in fp32.",
    TKI_SIZES("m", "n", "k"),
    TKI_PARAMS(
        [TKI_LINEAR_GRAD_W_GRAD_Y] = TKI_INPUT("grad_y", TK_KIND_VALUE, 0, TKI_SHAPE(0, 1)),
        [TKI_LINEAR_GRAD_W_X] = TKI_INPUT("x", TK_KIND_VALUE, 0, TKI_SHAPE(0, 2)),
        [TKI_LINEAR_GRAD_W_BEFORE] = TKI_INPUT("before", TK_KIND_RESULT, -1, TKI_SHAPE(1, 2),
                                               TKI_WHEN(TKI_LINEAR_ACCUMULATE, WITH(TKI_LINEAR_ADD))),
        [TKI_LINEAR_GRAD_W_OUT] = TKI_OUTPUT("grad_w", TK_KIND_RESULT, TKI_LINEAR_GRAD_W_BEFORE, TKI_SHAPE(1, 2))),
    TKI_TYPES_SUM,
    .refusal = tki_numerics_refusal,
    TKI_ATTRIBUTES(
        TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE,
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
        TKI_USUAL_CLAUSES("LINEAR_GRAD_W", "grad_w", "grad_y and x stay as they were", TKI_SUM_SHAPE_TEXT),
        {TK_CLAUSE_IN_PLACE, "LINEAR_GRAD_W.INPLACE", "grad_w may be the buffer of before"}),
};

/* clang-format on */
