/* DECIDES. The bounds and special values of gelu and its derivative, also of what is composed with them. Inline, since contracts belong to
 * libtokitai and oracles to libtokitai-verify. docs/contracts.md has the derivations. */
#pragma once

#include <math.h>

#include "exact/admit.h"
#include "exact/fp32.h"
#include "tokitai.h"

/* Covers the roundings of one bound's evaluation in double: the bounds are rounded up. */
#define TKI_GELU_ROUND_UP (1 + 0x1p-48)
/* The 2^-126 terms pay for an exp that flushes or clamps near the smallest normal number. Where |2z| > 104 every exp in
 * fp32 is zero, and there |x| > 10.6 and |h| > 270; so beyond a cap well above that they have nothing left to pay for. Without
 * the cap, bf16 inputs above 2^40 would make B larger than the result. */
#define TKI_GELU_UNDERFLOW_CAP 4096.0
/* The product grad_output g' is formed in fp32, where a subnormal result is rounded to a multiple of 2^-149 whatever its
 * size. With |grad_output| >= 2^-24, as in fp16, the 2^-126 term covers that; with the subnormals of bf16 nothing else
 * does. */
#define TKI_GELU_BWD_UNDERFLOW TKI_FP32_UNDERFLOW
/* The error budget of sigma and h in units of u, and for a relative error in the argument of exp. */
#define TKI_GELU_CONSTANT 8.0
#define TKI_GELU_PER_ARGUMENT 4.0
/* |g'| is at most this, and |g''| at most 1. */
#define TKI_GELU_STEEPEST 1.13

/* The clauses of both contracts. */
enum { TKI_GELU_ERR, TKI_GELU_NAN, TKI_GELU_INF };

/* B(x); for the gradient, (B - TKI_GELU_BWD_UNDERFLOW) / |grad_output|. Arguments are upper bounds of the absolute values
 * they name. */
static inline double tki_gelu_fwd_bound(double x, double two_z, double one_minus_sigma, double y)
{
    /* Where y underflows in double, one_minus_sigma two_z is at most 2^10 and the term with it is below 2^-1000. */
    return (TKI_U * y * (TKI_GELU_CONSTANT + TKI_GELU_PER_ARGUMENT * two_z * one_minus_sigma) +
            TKI_FP32_SMALLEST_NORMAL * fmin(x, TKI_GELU_UNDERFLOW_CAP)) *
           TKI_GELU_ROUND_UP;
}

static inline double tki_gelu_bwd_bound(double two_z, double sigma, double one_minus_sigma, double h)
{
    const double first = sigma * (TKI_GELU_CONSTANT + TKI_GELU_PER_ARGUMENT * two_z * one_minus_sigma);
    const double second = sigma * one_minus_sigma * h * (TKI_GELU_CONSTANT + TKI_GELU_PER_ARGUMENT * two_z);
    return (TKI_U * (first + second) + TKI_FP32_SMALLEST_NORMAL * (1 + fmin(h, TKI_GELU_UNDERFLOW_CAP))) *
           TKI_GELU_ROUND_UP;
}

/* What is admitted where an input is NaN or infinite, and the clause that says so; 0 where both are finite.
 * `derivative` is g'(x), read only when x is finite. */
static inline unsigned tki_gelu_fwd_special(double x, int *clause)
{
    if (isnan(x)) {
        *clause = TKI_GELU_NAN;
        return TKI_ADMIT_NAN;
    }
    *clause = TKI_GELU_INF;
    if (isinf(x))
        return x > 0 ? TKI_ADMIT_PLUS_INF : TKI_ADMIT_NAN | TKI_ADMIT_ZERO;
    return 0;
}

static inline unsigned tki_admit_infinity(bool negative)
{
    return negative ? TKI_ADMIT_MINUS_INF : TKI_ADMIT_PLUS_INF;
}

static inline unsigned tki_gelu_bwd_special(double grad_output, double x, double derivative, int *clause)
{
    if (isnan(grad_output) || isnan(x)) {
        *clause = TKI_GELU_NAN;
        return TKI_ADMIT_NAN;
    }
    *clause = TKI_GELU_INF;
    if (isinf(x) && x > 0)
        return TKI_ADMIT_NAN | (isinf(grad_output) ? tki_admit_infinity(grad_output < 0) : TKI_ADMIT_INTERVAL);
    if (isinf(x))
        return isinf(grad_output) ? TKI_ADMIT_NAN : TKI_ADMIT_NAN | TKI_ADMIT_ZERO;
    if (isinf(grad_output))
        return tki_admit_infinity((grad_output < 0) != (derivative < 0)) |
               (fabs(derivative) < TKI_FP32_SMALLEST_NORMAL ? TKI_ADMIT_NAN : 0u);
    return 0;
}
