/* UNTRUSTED. GELU in its tanh form and its derivative, on pairs of vectors of fp32. */
#ifndef TKI_KERNELS_CPU_GELU_H
#define TKI_KERNELS_CPU_GELU_H

#include <stdbool.h>

#include "kernels/cpu_vector.h"

/* x is clamped to where sigma or 1 - sigma is nothing beside 1 in fp32: 2z is 25 at the one and -112 at the other. At the first the
 * derivative comes out as 1 exactly, as it must for x = +inf. */
static const float GELU_HIGHEST = 6.0f;
static const float GELU_LOWEST = -11.0f;

/* The chain of operations from x to the result is longer than a processor looks ahead. So it is cut into four steps, and
 * a loop takes four pairs of vectors at once, each one step further than the next. */
typedef struct gelu_work {
    vec kept[2];   /* what the last step needs of x: x itself, or for the gradient -h / k */
    vec t[2];      /* the exponent of 2, then its fraction */
    vec power[2];  /* of vec_nearest() */
    vec result[2]; /* a polynomial in the fraction, then 2^t, at last the value or derivative */
} gelu_work;

/* exp(-2z) for the value, exp(2z) / k for the derivative: each can vanish or overflow without harm. NaN passes. */
TKI_INLINE void gelu_begin(gelu_work *w, bool backward, tk_dtype dtype)
{
    const float sign = backward ? 1.0f : -1.0f;
    for (int j = 0; j < 2; j++) {
        vec x = vec_min(vec_set(GELU_HIGHEST), w->kept[j]);
        if (VEC_LIFT != 0 || dtype != TK_F16)
            x = vec_max(vec_set(GELU_LOWEST), x);
        w->t[j] = vec_mul(x, vec_fma(vec_set(sign * GELU_B), vec_mul(x, x), vec_set(sign * GELU_A)));
        if (backward)
            w->kept[j] = vec_fnma(vec_set(GELU_THREE_BY_K), w->t[j], x);
    }
}

/* 2^f for |f| <= 1/2 is a polynomial of degree 5, here times a factor. */
TKI_INLINE vec gelu_coefficient(int power, bool backward)
{
    const double factor = backward ? GELU_BY_K / (1ull << VEC_LIFT) : (double)(1ull << VEC_LIFT);
    return vec_set((float)(GELU_EXP2[power] * factor));
}

TKI_INLINE void gelu_split(gelu_work *w, bool backward)
{
    for (int j = 0; j < 2; j++) {
        w->t[j] = vec_nearest(w->t[j], backward ? VEC_LIFT : -VEC_LIFT, &w->power[j]);
        vec p = vec_fma(gelu_coefficient(5, backward), w->t[j], gelu_coefficient(4, backward));
        w->result[j] = vec_fma(p, w->t[j], gelu_coefficient(3, backward));
    }
}

TKI_INLINE void gelu_join(gelu_work *w, bool backward)
{
    for (int j = 0; j < 2; j++) {
        vec p = vec_fma(w->result[j], w->t[j], gelu_coefficient(2, backward));
        p = vec_fma(p, w->t[j], gelu_coefficient(1, backward));
        p = vec_fma(p, w->t[j], gelu_coefficient(0, backward));
        w->result[j] = vec_lift(p, w->power[j]);
    }
}

/* y = x / (1 + exp(-2z)). With e = exp(2z) / k and d = (1 + exp(2z)) / k: sigma = e / d, 1 - sigma = 1 / (k d), and so
 * g' = e (d + h / k) / d^2. */
TKI_INLINE void gelu_end(gelu_work *w, bool backward)
{
    for (int j = 0; j < 2; j++) {
        vec e = w->result[j];
        vec d = vec_add(e, vec_set(backward ? (float)GELU_BY_K : 1.0f));
        w->result[j] = backward ? vec_div(vec_mul(e, vec_sub(d, w->kept[j])), vec_mul(d, d)) : vec_div(w->kept[j], d);
    }
}

/* All steps: x becomes its gelu, or the derivative there. */
TKI_INLINE void gelu_pair(vec x[2], bool backward)
{
    gelu_work w = {.kept = {x[0], x[1]}};
    gelu_begin(&w, backward, TK_F32);
    gelu_split(&w, backward);
    gelu_join(&w, backward);
    gelu_end(&w, backward);
    x[0] = w.result[0];
    x[1] = w.result[1];
}

#endif
