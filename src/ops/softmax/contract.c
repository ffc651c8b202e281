/* DECIDES. Row softmax and its gradient: what they promise. The exact value is in oracle.c, the kernels in
 * kernel_cpu.c. */
#include "ops/softmax/contract.h"

#include <math.h>

#include "exact/admit.h"
#include "model/contract_parts.h"
#include "model/format.h"

#define U 0x1p-24
/* Covers the roundings of one bound's evaluation in double: the bounds are rounded up. */
#define ROUND_UP (1 + 0x1p-48)
/* From here on fp32 rounds to infinity. */
#define F32_OVERFLOW (0x1p128 - 0x1p103)

/* clang-format off */ /* one row below the other */

const tk_contract tki_softmax_fwd_contract = {
    .name = "softmax_fwd",
    .summary = "softmax of each row",
    .formula = "y_i = exp(-d_i) / sum_j exp(-d_j), with d_i = max_j x_j - x_i; sums run over the row",
    .bound = "B = y W / (1 - W) + 2^-126, with W = 1.0001 (u [2.25 (d + ln n) + 19 + D + 9 R] + n 2^-126), n = cols, "
             "D = n' - 1, R = min(32, n' - 1), n' = the number of elements with d <= 104; for d > 104, B = 2^-126; "
             "no bound where W >= 1/2. Plateaus: if every d is 0 or above 104, and at most 2^24 are 0, "
             "D = min(n' - 1, 64 + 2 |max|) and R = 0. Promise: D = min(n' - 1, ceil(n / 256) + 16), on plateaus the "
             "smaller of both",
    .notes = "A row with a NaN, a +inf or nothing but -inf becomes NaN.",
    TKI_SIZES("rows", "cols"),
    TKI_PARAMS(
        TKI_INPUT("x", TK_KIND_VALUE, 1, TKI_SHAPE(0, 1), .neutral = TK_NEUTRAL_LOW),
        TKI_OUTPUT("y", TK_KIND_VALUE, -1, TKI_SHAPE(0, 1), .sums_to = 1)),
    TKI_TYPES_FLOAT,
    TKI_ATTRIBUTES(TKI_DOMAIN_ATTRIBUTE),
    TKI_CLAUSES(
        [TKI_SOFTMAX_ERR] =
            {TK_CLAUSE_ERROR, "SOFTMAX_FWD.ERR",
             "in a row without NaN and +inf, y is the rounding of some value within B of the exact one"},
        [TKI_SOFTMAX_NAN] = {TK_CLAUSE_VALUE, "SOFTMAX_FWD.NAN",
                             "a NaN, a +inf or nothing but -inf makes the whole row NaN, and nothing "
                             "else makes any of it NaN"},
        [TKI_SOFTMAX_FWD_ZERO] = {TK_CLAUSE_VALUE, "SOFTMAX_FWD.ZERO",
                                  "a -inf in a row with finite elements gives 0"},
        [TKI_SOFTMAX_FWD_PROMISE] =
            {TK_CLAUSE_PROMISE, "SOFTMAX_FWD.PROMISE",
             "our lowerings keep within the B of D = min(n' - 1, ceil(n / 256) + 16) additions"},
        TKI_WRITES("y", "x stays as it was")),
};

const tk_contract tki_softmax_bwd_contract = {
    .name = "softmax_bwd",
    .summary = "gradient of the row softmax",
    .formula = "grad_input_i = y_i (g_i - s), with g = grad_output and s = sum_j y_j g_j over the row",
    .bound = "B = |y_i| [2.0001 u |g_i - s| + 1.0001 (Bs + u |s|)] + 2^-149, with Bs = (n' - 1) u sum|y g|, for bf16 "
             "+ n 2^-150, n = cols, n' = the number of nonzero products; for fp32, whose products are rounded, "
             "Bs = n' u sum|y g| + (1 + n u) n 2^-150, and 2 u |s| instead of u |s|. Exact sums: Bs = 0 where "
             "sum|y g| <= 2^24 q, q the largest power of two that divides every product, 2^-126 <= q <= 2^103",
    .notes = "y is the output of softmax_fwd.",
    TKI_SIZES("rows", "cols"),
    TKI_PARAMS(
        TKI_INPUT("grad_output", TK_KIND_VALUE, 1, TKI_SHAPE(0, 1)),
        TKI_INPUT("y", TK_KIND_VALUE, 1, TKI_SHAPE(0, 1)),
        TKI_OUTPUT("grad_input", TK_KIND_VALUE, -1, TKI_SHAPE(0, 1))),
    TKI_TYPES_FLOAT,
    TKI_ATTRIBUTES(TKI_DOMAIN_ATTRIBUTE),
    TKI_CLAUSES(
        [TKI_SOFTMAX_ERR] =
            {TK_CLAUSE_ERROR, "SOFTMAX_BWD.ERR",
             "in a row of finite inputs, grad_input is the rounding of some value within B of the exact "
             "one; in bf16 and fp32: if (1 + n u) sum|y g| reaches 2^128 (1 - 2^-25), infinities and NaN are "
             "admitted "
             "too; if |g_i - s| + 1.0001 (Bs + u |s|) does, so is the infinity of S's sign, or NaN for "
             "y_i = 0"},
        [TKI_SOFTMAX_NAN] =
            {TK_CLAUSE_VALUE, "SOFTMAX_BWD.NAN",
             "a NaN, 0 times infinity or infinities of both signs among the products y g make the whole "
             "row NaN; with infinite products of one sign s is that infinity, and y_i (g_i - s) follows "
             "IEEE: NaN where y_i = 0 or g_i = s, else the infinity of sign -y_i s; NaN too for y_i = +inf, "
             "which y_i g_i - y_i s gives, and in bf16 and fp32 if the finite products alone may overflow"}),
};

/* clang-format on */

/* Our lowerings take exp(0) for 1 times a constant near 1, so that they promise no more of plateaus than the contract does. */
tki_softmax_w tki_softmax_fwd_w(const tki_softmax_terms *row, bool promised)
{
    return tki_softmax_w_of_row(1, (double)row->cols, tki_softmax_ln(row->cols),
                                tki_softmax_sum_depth(row, promised, false), tki_softmax_rescalings(row));
}

double tki_softmax_fwd_bound(tki_softmax_w row, double d, double y)
{
    if (d > TKI_SOFTMAX_FAR)
        return 0x1p-126;
    return (y * tki_softmax_relative_bound(row, d) + 0x1p-126) * ROUND_UP;
}

double tki_softmax_bwd_sum_bound(tk_dtype dtype, int64_t cols, int64_t nonzero, double magnitude, bool exact)
{
    if (exact)
        return 0;
    /* Products of fp32 numbers are rounded, those of 16-bit ones are not. */
    int64_t roundings = !tki_products_fit_fp32(dtype) || nonzero == 0 ? nonzero : nonzero - 1;
    double n = (double)cols;
    double underflow = !tki_products_underflow(dtype) ? 0
                       : tki_products_fit_fp32(dtype) ? n * 0x1p-150
                                                      : (1 + n * U) * n * 0x1p-150;
    return ((double)roundings * U * magnitude + underflow) * ROUND_UP;
}

double tki_softmax_bwd_bound(tk_dtype dtype, double y, double difference, double sum, double sum_bound)
{
    /* y g - y s rounds both products where they are of fp32 numbers, else the second. */
    double products = tki_products_fit_fp32(dtype) ? 1 : 2;
    return (y * (2.0001 * U * difference + 1.0001 * (sum_bound + products * U * sum)) + 0x1p-149) * ROUND_UP;
}

/* fp16 cannot overflow fp32: its products are at most 2^32. */
bool tki_softmax_bwd_sum_overflows(tk_dtype dtype, int64_t cols, double magnitude)
{
    return tki_products_overflow(dtype) && (1 + (double)cols * U) * magnitude * ROUND_UP >= F32_OVERFLOW;
}

unsigned tki_softmax_bwd_overflow(tk_dtype dtype, double y, double difference, double sum, double sum_bound)
{
    double largest = (fabs(difference) + 1.0001 * (sum_bound + U * sum)) * ROUND_UP;
    if (!tki_products_overflow(dtype) || largest < F32_OVERFLOW)
        return 0;
    if (y == 0)
        return TKI_ADMIT_NAN;
    return (y < 0) != (difference < 0) ? TKI_ADMIT_MINUS_INF : TKI_ADMIT_PLUS_INF;
}

unsigned tki_softmax_bwd_special(double grad, double y, double sum, bool sum_overflows)
{
    if (isnan(sum) || y == 0 || grad == sum)
        return TKI_ADMIT_NAN;
    unsigned infinity = (y < 0) != (sum < 0) ? TKI_ADMIT_PLUS_INF : TKI_ADMIT_MINUS_INF;
    /* y g - y s is infinity less infinity for y = +inf. */
    return infinity | (sum_overflows || y == INFINITY ? TKI_ADMIT_NAN : 0u);
}
