/* TRUSTED. GELU in its tanh form, and its derivative: what they promise. The exact value is in oracle.c, the kernels in
 * kernel_cpu.c. */
#include "exact/gelu_bound.h"
#include "model/attributes.h"

const tk_contract tki_gelu_fwd_contract = {
    .name = "gelu_fwd",
    .summary = "tanh-approximated GELU",
    .formula = "y = 0.5 x (1 + tanh(z)) = x sigma, with z = c (x + a x^3), sigma = 1 / (1 + exp(-2z)), "
               "c = sqrt(2/pi), a = 0.044715",
    .bound = "B = u |y| (8 + 4 |2z| (1 - sigma)) + 2^-126 min(|x|, 4096)",
    .dim_count = 1,
    .dim_names = (const char *const[]){"n"},
    .param_count = 2,
    .params =
        (const tk_param[]){
            {.name = "x", .kind = TK_KIND_VALUE, .rank = 1, .dim = {0}, .inner_axis = -1, .may_alias = -1},
            {.name = "y",
             .output = true,
             .kind = TK_KIND_VALUE,
             .rank = 1,
             .dim = {0},
             .inner_axis = -1,
             .may_alias = -1},
        },
    .elementwise = true,
    TKI_TYPES_FLOAT,
    .attribute_count = 1,
    .attributes = (const tk_attribute[]){TKI_DOMAIN_ATTRIBUTE},
    .clause_count = 6,
    .clauses =
        (const tk_clause[]){
            [TKI_GELU_ERR] = {TK_CLAUSE_ERROR, "GELU_FWD.ERR",
                              "for finite x, y is the rounding of some value within B of the exact one"},
            [TKI_GELU_NAN] = {TK_CLAUSE_VALUE, "GELU_FWD.NAN", "a NaN gives NaN, and finite x never does"},
            [TKI_GELU_INF] = {TK_CLAUSE_VALUE, "GELU_FWD.INF", "+inf gives +inf; -inf gives NaN or 0"},
            {TK_CLAUSE_WRITE, "GELU_FWD.WRITE", "every y is written, nothing else is, and x stays as it was"},
            {TK_CLAUSE_SHAPE, "GELU_FWD.SHAPE", "any n, zero included, at any alignment of the element type"},
            {TK_CLAUSE_REPEAT, "GELU_FWD.REPEAT",
             "the same inputs give the same bits on every run, at every address and thread count"},
        },
};

const tk_contract tki_gelu_bwd_contract = {
    .name = "gelu_bwd",
    .summary = "gradient of the tanh-approximated GELU",
    .formula = "grad_input = grad_output g', with g' = sigma (1 + (1 - sigma) h), h = 2 c x (1 + 3 a x^2), "
               "sigma, c and a as in gelu_fwd",
    .bound = "B = u |grad_output| [sigma (8 + 4 |2z| (1 - sigma)) + sigma (1 - sigma) |h| (8 + 4 |2z|)] "
             "+ 2^-126 |grad_output| (1 + min(|h|, 4096)) + 2^-150",
    .dim_count = 1,
    .dim_names = (const char *const[]){"n"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            {.name = "grad_output", .kind = TK_KIND_VALUE, .rank = 1, .dim = {0}, .inner_axis = -1, .may_alias = -1},
            {.name = "x", .kind = TK_KIND_VALUE, .rank = 1, .dim = {0}, .inner_axis = -1, .may_alias = -1},
            {.name = "grad_input",
             .output = true,
             .kind = TK_KIND_VALUE,
             .rank = 1,
             .dim = {0},
             .inner_axis = -1,
             .may_alias = -1},
        },
    .elementwise = true,
    TKI_TYPES_FLOAT,
    .attribute_count = 1,
    .attributes = (const tk_attribute[]){TKI_DOMAIN_ATTRIBUTE},
    .clause_count = 6,
    .clauses =
        (const tk_clause[]){
            [TKI_GELU_ERR] =
                {TK_CLAUSE_ERROR, "GELU_BWD.ERR",
                 "for finite inputs, grad_input is the rounding of some value within B of the exact one"},
            [TKI_GELU_NAN] = {TK_CLAUSE_VALUE, "GELU_BWD.NAN",
                              "a NaN in either input gives NaN, and finite inputs never do"},
            [TKI_GELU_INF] =
                {TK_CLAUSE_VALUE, "GELU_BWD.INF",
                 "x = +inf gives NaN or grad_output; x = -inf gives NaN, or 0 if grad_output is finite; an "
                 "infinite grad_output at finite x gives sign(g') grad_output, NaN also where |g'| < 2^-126"},
            {TK_CLAUSE_WRITE, "GELU_BWD.WRITE",
             "every grad_input is written, nothing else is, and the inputs stay as they were"},
            {TK_CLAUSE_SHAPE, "GELU_BWD.SHAPE", "any n, zero included, at any alignment of the element type"},
            {TK_CLAUSE_REPEAT, "GELU_BWD.REPEAT",
             "the same inputs give the same bits on every run, at every address and thread count"},
        },
};
