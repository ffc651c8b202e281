/* CHOOSES. What correct variants share: orders of summation, and ways to an exponential. Our own kernels use none of this. */
#pragma once

#include "ops/mutant_tools.h"

typedef enum tki_order {
    TKI_FORWARD,
    TKI_REVERSED,
    TKI_PAIRWISE,    /* neighbours, then neighbouring sums, and so on */
    TKI_EIGHT_LANES, /* eight sums, each over every eighth term, then pairwise */
    TKI_BLOCKS,      /* sums of 64 neighbours, then pairwise */
    TKI_KAHAN,       /* with a correction for what each addition lost */
    TKI_IN_DOUBLE    /* rounded to fp32 at the end */
} tki_order;

/* All but the first of the terms are spoilt. */
static inline float tki_sum_pairwise(float *terms, int64_t count)
{
    if (count == 0)
        return 0;
    for (; count > 1; count = count / 2 + count % 2) {
        for (int64_t i = 0; i < count / 2; i++)
            terms[i] = terms[2 * i] + terms[2 * i + 1];
        if (count % 2)
            terms[count / 2] = terms[count - 1];
    }
    return terms[0];
}

static inline float tki_sum_kahan(const float *terms, int64_t count)
{
    float sum = 0;
    float excess = 0;
    for (int64_t i = 0; i < count; i++) {
        float corrected = terms[i] - excess;
        float next = sum + corrected;
        /* Infinity less infinity is no correction. */
        excess = isfinite(next) ? (next - sum) - corrected : 0;
        sum = next;
    }
    return sum;
}

/* The terms may be spoilt. */
static inline float tki_sum(float *terms, int64_t count, tki_order order)
{
    enum { BLOCK = 64, LANES = 8 };
    float lanes[LANES] = {0};
    float sum = 0;
    double wide = 0;
    int64_t blocks = 0;
    switch (order) {
    case TKI_PAIRWISE: return tki_sum_pairwise(terms, count);
    case TKI_KAHAN: return tki_sum_kahan(terms, count);
    case TKI_REVERSED:
        for (int64_t i = count - 1; i >= 0; i--)
            sum += terms[i];
        return sum;
    case TKI_EIGHT_LANES:
        for (int64_t i = 0; i < count; i++)
            lanes[i % LANES] += terms[i];
        return tki_sum_pairwise(lanes, LANES);
    case TKI_BLOCKS:
        for (int64_t begin = 0; begin < count; begin += BLOCK) {
            float block = 0;
            for (int64_t i = begin; i < count && i < begin + BLOCK; i++)
                block += terms[i];
            terms[blocks++] = block;
        }
        return tki_sum_pairwise(terms, blocks);
    case TKI_IN_DOUBLE:
        for (int64_t i = 0; i < count; i++)
            wide += (double)terms[i];
        return (float)wide;
    case TKI_FORWARD: break;
    }
    for (int64_t i = 0; i < count; i++)
        sum += terms[i];
    return sum;
}

typedef enum tki_exp_way { TKI_EXP_LIBM, TKI_EXP_BASE_2, TKI_EXP_POLYNOMIAL } tki_exp_way;

/* x = n ln 2 + r with |r| <= ln(2)/2; Taylor's polynomial of degree 7 is within 2^-26 of exp(r). For x <= 0. */
static inline float tki_exp_polynomial(float x)
{
    if (!(x >= -150.0f))
        return isnan(x) ? x : 0;
    float n = rintf(x * 1.44269504f);
    float r = fmaf(n, -0x1.62e4p-1f, x); /* ln 2 in two parts, the first with trailing zeros */
    r = fmaf(n, -0x1.7f7d1cp-20f, r);
    float p = 1.0f / 5040;
    p = fmaf(p, r, 1.0f / 720);
    p = fmaf(p, r, 1.0f / 120);
    p = fmaf(p, r, 1.0f / 24);
    p = fmaf(p, r, 1.0f / 6);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    return ldexpf(p, (int)n);
}

static inline float tki_exp_by(float x, tki_exp_way way)
{
    switch (way) {
    case TKI_EXP_BASE_2: return exp2f(x * 1.44269504f);
    case TKI_EXP_POLYNOMIAL: return tki_exp_polynomial(x);
    case TKI_EXP_LIBM: break;
    }
    return expf(x);
}
