/* DECIDES. GELU in its tanh form, and its derivative: what they promise. The exact value is in oracle.c, the kernels in
 * kernel_cpu.c. */
#include "exact/gelu_bound.h"
#include "model/contract_parts.h"

/* clang-format off */ /* one row below the other */

const tk_contract tki_gelu_fwd_contract = {
    .name = "gelu_fwd",
    .summary = "tanh-approximated GELU",
    .formula = "y = 0.5 x (1 + tanh(z)) = x sigma, with z = c (x + a x^3), sigma = 1 / (1 + exp(-2z)), "
               "c = sqrt(2/pi), a = 0.044715",
    .bound = "B = u |y| (8 + 4 |2z| (1 - sigma)) + 2^-126 min(|x|, 4096)",
    TKI_SIZES("n"),
    TKI_PARAMS(
        TKI_INPUT("x", TK_KIND_VALUE, -1, TKI_SHAPE(0)),
        TKI_OUTPUT("y", TK_KIND_VALUE, -1, TKI_SHAPE(0))),
    .elementwise = true,
    TKI_TYPES_FLOAT_AND_8_BITS,
    TKI_ATTRIBUTES(TKI_DOMAIN_ATTRIBUTE, TKI_OVERFLOW_ATTRIBUTE(TKI_OVERFLOW_NAN)),
    TKI_CLAUSES(
        [TKI_GELU_ERR] = {TK_CLAUSE_ERROR, "GELU_FWD.ERR",
                          "for finite x, y is the rounding of some value within B of the exact one"},
        [TKI_GELU_NAN] = {TK_CLAUSE_VALUE, "GELU_FWD.NAN", "a NaN gives NaN, and finite x never does"},
        [TKI_GELU_INF] = {TK_CLAUSE_VALUE, "GELU_FWD.INF", "+inf gives +inf; -inf gives NaN or 0"},
        TKI_WRITES("y", "x stays as it was")),
};

const tk_contract tki_gelu_bwd_contract = {
    .name = "gelu_bwd",
    .summary = "gradient of the tanh-approximated GELU",
    .formula = "grad_input = grad_output g', with g' = sigma (1 + (1 - sigma) h), h = 2 c x (1 + 3 a x^2), "
               "sigma, c and a as in gelu_fwd",
    .bound = "B = u |grad_output| [sigma (8 + 4 |2z| (1 - sigma)) + sigma (1 - sigma) |h| (8 + 4 |2z|)] "
             "+ 2^-126 |grad_output| (1 + min(|h|, 4096)) + 2^-150",
    TKI_SIZES("n"),
    TKI_PARAMS(
        TKI_INPUT("grad_output", TK_KIND_VALUE, -1, TKI_SHAPE(0)),
        TKI_INPUT("x", TK_KIND_VALUE, -1, TKI_SHAPE(0)),
        TKI_OUTPUT("grad_input", TK_KIND_VALUE, -1, TKI_SHAPE(0))),
    .elementwise = true,
    TKI_TYPES_FLOAT_AND_8_BITS,
    TKI_ATTRIBUTES(TKI_DOMAIN_ATTRIBUTE, TKI_OVERFLOW_ATTRIBUTE(TKI_OVERFLOW_NAN)),
    TKI_CLAUSES(
        [TKI_GELU_ERR] = TKI_ONE_ERROR_CLAUSE("GELU_BWD.ERR", "grad_input"),
        [TKI_GELU_NAN] = {TK_CLAUSE_VALUE, "GELU_BWD.NAN",
                          "a NaN in either input gives NaN, and finite inputs never do"},
        [TKI_GELU_INF] =
            {TK_CLAUSE_VALUE, "GELU_BWD.INF",
             "x = +inf gives NaN or grad_output; x = -inf gives NaN, or 0 if grad_output is finite; an "
             "infinite grad_output at finite x gives sign(g') grad_output, NaN also where |g'| < 2^-126"}),
};

/* clang-format on */
