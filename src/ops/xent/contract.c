/* DECIDES. Softmax and cross-entropy, loss and gradient: what they promise. The exact value is in oracle.c, the
 * kernel in kernel_cpu.c. */
#include "ops/xent/contract.h"

#include <math.h>

#include "exact/admit.h"
#include "model/contract_parts.h"

#define U 0x1p-24
/* Covers the roundings of one bound's evaluation in double: the bounds are rounded up. */
#define ROUND_UP (1 + 0x1p-48)
/* From here on fp32 rounds to infinity. */
#define FP32_OVERFLOW (0x1p128 - 0x1p103)

/* clang-format off */ /* one row below the other */

const tk_contract tki_xent_contract = {
    .name = "xent",
    .summary = "softmax and cross-entropy, loss and gradient in one call",
    .formula =
        "with M = max x, d_j = M - x_j, Z = sum exp(-d_j), p_j = exp(-d_j) / Z, q_j = eps/C + (1 - eps) [j = t]: "
        "loss = ln Z + sum q_j d_j, grad_j = alpha (p_j - q_j); eps = label_smoothing, alpha = scale, C = cols",
    .bound =
        "gradient: B = |alpha| [P W/(1-W) + 3u Q + 3u |P-Q| + 2^-126] + 2^-149; for j != t P = p_j, Q = eps/C and "
        "W = 1.0001 (u [2.25 (d_j + ln C) + 19 + D + 9R] + C 2^-126), without the term in W where d_j > 104; "
        "for j = t P = 1 - p_t, Q = eps (C-1)/C and W = 1.0001 (u [2.25 (d2 + 2 ln C) + 19 + 2D + 18R] + C 2^-126), "
        "with W/(1-W) = 1 where d2 > 104. "
        "Loss: B = u [3 (1-eps) d_t + 2 ln Z + 2.25 ln C + D + 9R + 20] + (eps/C) (E+4) u sum d_j. "
        "D = n' - 1, n' = how many d_j <= 104; E = how many d_j > 0, less 1; R = min(32, n' - 1); d2 = the smallest "
        "d_j, "
        "j != t. Plateaus: if every d_j is 0 or above 104, and at most 2^24 are 0, D = min(n' - 1, 64 + 2 |M|) and R "
        "= 0. "
        "Promise: D and E at most ceil(C/256) + 16, on plateaus D = 0, and for the loss B = 1.0001 u {3 (1-eps) d_t "
        "+ "
        "[2.25 (d2' + ln C) + D + 9R + 20] ln Z} + (eps/C) (E+4) u sum d_j + 2^-126, d2' = the second smallest d_j, "
        "with u [...] = 1 where d2' > 104",
    TKI_SIZES("rows", "cols"),
    TKI_PARAMS(
        [TKI_XENT_LOGITS] = TKI_INPUT("logits", TK_KIND_VALUE, 1, TKI_SHAPE(0, 1), .neutral = TK_NEUTRAL_LOW),
        [TKI_XENT_TARGETS] = TKI_INDICES("target", 1, TKI_SHAPE(0), .also = "ignore_index"),
        [TKI_XENT_LOSSES] = TKI_OUTPUT("loss", TK_KIND_FIXED, -1, TKI_SHAPE(0), .dtype = TK_F32),
        [TKI_XENT_GRADIENTS] = TKI_OUTPUT("grad_logits", TK_KIND_VALUE, TKI_XENT_LOGITS, TKI_SHAPE(0, 1))),
    TKI_TYPES_FLOAT,
    TKI_ATTRIBUTES(
        TKI_DOMAIN_ATTRIBUTE,
        [TKI_XENT_LABEL_SMOOTHING] = {.name = "label_smoothing",
                                      .text = "s: the target distribution is (1 - s) one-hot + s / cols",
                                      .type = TK_ATTRIBUTE_REAL,
                                      .least = {.real = 0},
                                      .most = {.real = 1},
                                      .seen_by_kernel = true,
                                      .fp32 = true,
                                      .abi_1_offset = 16},
        [TKI_XENT_SCALE] = {.name = "scale",
                            .text = "multiplies the gradient, not the loss",
                            .type = TK_ATTRIBUTE_REAL,
                            .initial = {.real = 1},
                            .least = {.real = -0x1.fffffep127},
                            .most = {.real = 0x1.fffffep127},
                            .seen_by_kernel = true,
                            .fp32 = true,
                            .abi_1_offset = 20},
        [TKI_XENT_IGNORE_INDEX] = {.name = "ignore_index",
                                   .text = "rows with this target get loss 0 and gradient 0, whatever their "
                                           "logits are",
                                   .type = TK_ATTRIBUTE_INTEGER,
                                   .initial = {.integer = -100},
                                   .least = {.integer = INT64_MIN},
                                   .most = {.integer = INT64_MAX},
                                   .seen_by_kernel = true,
                                   .abi_1_offset = 24}),
    TKI_CLAUSES(
        [TKI_XENT_ERR] = {TK_CLAUSE_ERROR, "XENT.ERR",
                          "every grad_logits is the rounding of some value within B of the exact one"},
        [TKI_XENT_LOSS] = {TK_CLAUSE_VALUE, "XENT.LOSS",
                           "every loss is the fp32 rounding of some value within its B of the exact one; it "
                           "is not scaled; +inf too where eps > 0 and (1 + (E + 4) u) sum d_j reaches "
                           "2^128 (1 - 2^-25)"},
        [TKI_XENT_PROMISE] = {TK_CLAUSE_PROMISE, "XENT.PROMISE",
                              "our lowerings keep smaller bounds: sums of depth ceil(cols/256) + 16, exact ones "
                              "of plateaus, and the loss relative to its own size, never below 0, and finite "
                              "where it is"},
        [TKI_XENT_IGNORE] = {TK_CLAUSE_VALUE, "XENT.IGNORE",
                             "a row whose target is ignore_index gets loss +0 and gradient +0, whatever its "
                             "logits"},
        [TKI_XENT_NAN] = {TK_CLAUSE_VALUE, "XENT.NAN",
                          "a NaN, a +inf or only -inf in a row makes its loss and its whole gradient row NaN; "
                          "other rows never give NaN"},
        [TKI_XENT_INF] = {TK_CLAUSE_VALUE, "XENT.INF",
                          "a -inf logit has p = 0, so that its gradient is -alpha q_j, and makes the loss +inf "
                          "if q_j > 0; if q_j = 0 its term is 0"},
        TKI_SAYS(TK_CLAUSE_INDEX, TKI_INDEX_TEXT("any other target outside [0, cols)") "; on a GPU: nothing of its row"),
        TKI_SAYS(TK_CLAUSE_IN_PLACE, "grad_logits may be the very buffer of logits; the bits are the same")),
};

/* clang-format on */

static double grad_bound(const tki_xent_row *row, double p, double relative, double q, double difference)
{
    /* P may be zero where W has no bound. */
    double first = p > 0 ? p * relative : 0;
    double inner = first + 3 * U * (q + difference) + 0x1p-126;
    return (fabs(row->scale) * inner + 0x1p-149) * ROUND_UP;
}

/* W / (1 - W) at distance d, of a P that is made of so many sums. */
static double relative_bound(const tki_xent_row *row, double sums, double d)
{
    return tki_softmax_relative_bound(
        tki_softmax_w_of_row(sums, row->cols, row->ln_cols, row->depth, row->rescalings), d);
}

double tki_xent_grad_bound(const tki_xent_row *row, double d, double p, double q, double difference)
{
    double relative = d <= TKI_SOFTMAX_FAR ? relative_bound(row, 1, d) : 0;
    return grad_bound(row, p, relative, q, difference);
}

double tki_xent_target_grad_bound(const tki_xent_row *row, double p, double q, double difference)
{
    double relative = row->other_d <= TKI_SOFTMAX_FAR ? relative_bound(row, 2, row->other_d) : 1;
    return grad_bound(row, p, relative, q, difference);
}

double tki_xent_loss_bound(const tki_xent_row *row)
{
    double eps = row->label_smoothing;
    double target_term = 3 * (1 - eps) * row->target_d;
    double spread_term = 0;
    if (eps > 0)
        spread_term = eps / row->cols * (row->depth_d + 4) * U * row->sum_d;
    /* With eps = 1 and d_t infinite the loss is infinite and no bound is asked for. */
    if (!row->promised) {
        double sum = target_term + 2 * row->ln_z + 2.25 * row->ln_cols + row->depth + 9 * row->rescalings + 20;
        return (U * sum + spread_term) * ROUND_UP;
    }
    double log_term = row->ln_z;
    if (row->second_d <= TKI_SOFTMAX_FAR)
        log_term *= U * (2.25 * (row->second_d + row->ln_cols) + row->depth + 9 * row->rescalings + 20);
    return (1.0001 * (U * target_term + log_term) + spread_term + 0x1p-126) * ROUND_UP;
}

bool tki_xent_loss_may_overflow(const tki_xent_row *row)
{
    /* The distances are rounded, weighted and added as the bound has it. d_t, whose weight is 1 - eps, is one of them. */
    return row->label_smoothing > 0 && (1 + (row->depth_d + 4) * U) * row->sum_d * ROUND_UP >= FP32_OVERFLOW;
}

tki_xent_kind tki_xent_row_kind(const tk_case *c, int64_t target, double max, bool has_nan)
{
    if (target == c->attributes[TKI_XENT_IGNORE_INDEX].integer)
        return TKI_XENT_IGNORED;
    if (target < 0 || target >= c->dims[1])
        return TKI_XENT_BAD_INDEX;
    return has_nan || !isfinite(max) ? TKI_XENT_NAN_ROW : TKI_XENT_ORDINARY;
}

unsigned tki_xent_special(tki_xent_kind kind, int *clause)
{
    switch (kind) {
    case TKI_XENT_IGNORED: *clause = TKI_XENT_IGNORE; return TKI_ADMIT_RAW_BITS;
    case TKI_XENT_BAD_INDEX: *clause = TKI_XENT_NAN; return TKI_UNDEFINED;
    case TKI_XENT_NAN_ROW: *clause = TKI_XENT_NAN; return TKI_ADMIT_NAN;
    case TKI_XENT_ORDINARY: break;
    }
    return 0;
}

bool tki_xent_loss_is_infinite(const tk_case *c, bool has_minus_inf, bool target_is_minus_inf)
{
    /* q_t = 1 - eps + eps/C is never zero; the other q_j are eps/C. */
    return target_is_minus_inf || (has_minus_inf && c->attributes[TKI_XENT_LABEL_SMOOTHING].real > 0);
}
