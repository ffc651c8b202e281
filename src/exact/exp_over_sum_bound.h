/* DECIDES. What the bounds of ops with a softmax share: the relative error W that a kernel may make in exp(-d) / Z,
 * and the numbers in it. Inline, since contracts belong to libtokitai and oracles to libtokitai-verify. */
#pragma once

#include <math.h>

#include "exact/fp32.h"
#include "tokitai.h"

/* From here on exp(-d) is below half of the smallest fp32 number, and any kernel's exp may be zero. */
#define TKI_SOFTMAX_FAR 104.0
/* The most rescalings of a partial sum by a factor other than exp(0) that are paid for. */
#define TKI_SOFTMAX_RESCALINGS 32.0
/* The most elements at the maximum of which a plateau is claimed: integers up to here are exact in fp32. */
#define TKI_SOFTMAX_PLATEAU 0x1p24
/* The error budget of exp(-d) / Z in units of u: for each unit of distance in exp's argument, for two exponentials and the division, and for
 * each rescaling; and what terms of higher order are covered by. */
#define TKI_SOFTMAX_PER_DISTANCE 2.25
#define TKI_SOFTMAX_CONSTANT 19.0
#define TKI_SOFTMAX_PER_RESCALING 9.0
#define TKI_SOFTMAX_SLACK 1.0001
/* There is a bound only where W is below this. */
#define TKI_SOFTMAX_LARGEST_W 0.5
/* D on a plateau, and how much of it each unit of |M| adds. */
#define TKI_SOFTMAX_PLATEAU_DEPTH 64.0
#define TKI_SOFTMAX_PLATEAU_PER_MAXIMUM 2.0
/* Our lowerings add in blocks of so many, joined by so many additions. */
enum { TKI_SOFTMAX_BLOCK = 256, TKI_SOFTMAX_JOINED = 16 };

/* D: the most additions that an element passes through in a sum over a row, of whose elements `terms` matter: adding
 * zero is exact. `promised`: as our own lowerings sum. */
static inline double tki_softmax_depth(int64_t terms, int64_t cols, bool promised)
{
    int64_t most = terms > 0 ? terms - 1 : 0;
    int64_t kept = cols / TKI_SOFTMAX_BLOCK + (cols % TKI_SOFTMAX_BLOCK != 0) + TKI_SOFTMAX_JOINED;
    return (double)(promised && kept < most ? kept : most);
}

/* One row's sum of exponentials. */
typedef struct tki_softmax_terms {
    int64_t cols;
    int64_t near; /* n', how many d_j are at most TKI_SOFTMAX_FAR; at least 1 */
    int64_t top;  /* how many d_j are zero */
    double max;   /* M */
} tki_softmax_terms;

/* Every d_j is zero or beyond TKI_SOFTMAX_FAR. */
static inline bool tki_softmax_is_plateau(const tki_softmax_terms *t)
{
    return t->near == t->top;
}

/* D of that sum. `unit`: the lowering promises exp(0) = 1, so that the terms of a plateau are integers. */
static inline double tki_softmax_sum_depth(const tki_softmax_terms *t, bool promised, bool unit)
{
    const double depth = tki_softmax_depth(t->near, t->cols, promised);
    const double plateau = unit ? 0 : TKI_SOFTMAX_PLATEAU_DEPTH + TKI_SOFTMAX_PLATEAU_PER_MAXIMUM * fabs(t->max);
    return tki_softmax_is_plateau(t) && (double)t->near <= TKI_SOFTMAX_PLATEAU && plateau < depth ? plateau : depth;
}

/* R: a rescaling by another factor than exp(0) moves to a larger maximum, and what matters lies at n' of them at most; on a plateau at one. */
static inline double tki_softmax_rescalings(const tki_softmax_terms *t)
{
    const double most = tki_softmax_is_plateau(t) ? 0 : (double)(t->near - 1);
    return most < TKI_SOFTMAX_RESCALINGS ? most : TKI_SOFTMAX_RESCALINGS;
}

/* ln n for n >= 1: n = m 2^k with m in [1, 2), ln m = 2 artanh(t) with t = (m - 1) / (m + 1). t is at most 1/3, so
 * what the series leaves out is below 3^-41. Within 4 times 2^-53 of itself: t has 2 roundings, the series with the
 * later terms in front less than 2, their product 1, and ln m is at most half of ln n. */
static inline double tki_softmax_ln(int64_t n)
{
    const double ln_2 = 0x1.62e42fefa39efp-1;
    double m = (double)n;
    int k = 0;
    for (; m >= 2; k++)
        m /= 2;
    double t = (m - 1) / (m + 1);
    double square = t * t;
    double series = 0;
    for (int i = 39; i > 0; i -= 2)
        series = series * square + 1.0 / i;
    return k * ln_2 + 2 * t * series;
}

/* W of one row, as a function of d: at_maximum + per_distance d. */
typedef struct tki_softmax_w {
    double at_maximum, per_distance;
} tki_softmax_w;

/* W = 1.0001 (u [2.25 (d + sums ln n) + 19 + sums (D + 9 R)] + n 2^-126). `sums` is how many sums the result is made
 * of: 1 for exp(-d) / Z, 2 for a sum of exp(-d_j) over Z. */
static inline tki_softmax_w tki_softmax_w_of_row(double sums, double cols, double ln_cols, double depth,
                                                 double rescalings)
{
    double constant = TKI_SOFTMAX_PER_DISTANCE * (sums * ln_cols) + TKI_SOFTMAX_CONSTANT +
                      sums * (depth + TKI_SOFTMAX_PER_RESCALING * rescalings);
    return (tki_softmax_w){.at_maximum = TKI_SOFTMAX_SLACK * (TKI_U * constant + cols * TKI_FP32_SMALLEST_NORMAL),
                           .per_distance = TKI_SOFTMAX_SLACK * TKI_U * TKI_SOFTMAX_PER_DISTANCE};
}

/* W / (1 - W) for d <= TKI_SOFTMAX_FAR; infinite where W >= 1/2: there is no bound. Too small by at most 18 times
 * 2^-53, to be rounded up by the caller: in W 1 for ln n, which makes up at most a quarter of it, and 7 roundings, all
 * twice because of 1 - W; 2 here. */
static inline double tki_softmax_relative_bound(tki_softmax_w row, double d)
{
    double w = row.at_maximum + row.per_distance * d;
    return w < TKI_SOFTMAX_LARGEST_W ? w / (1 - w) : INFINITY;
}
