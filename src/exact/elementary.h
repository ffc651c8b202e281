/* DECIDES. Elementary functions in double with derived errors, for oracles of ops that a definition describes. They rest on tables made with
 * MPFR and on arithmetic alone, not on the C library's functions, whose errors no standard limits. Callers have begun with exact/floats.h.
 *
 * Each returns a y such that the exact value lies within |y| TKI_ELEMENTARY_ERROR + TKI_ELEMENTARY_TINY of it. Arguments are finite. */
#pragma once

#include "exact/exp_enclosure.h"

#define TKI_ELEMENTARY_ERROR 0x1p-42
/* Below it values are cut to zero: far below anything that fp32 holds, or that a product with an fp32 number makes of it. */
#define TKI_ELEMENTARY_TINY 0x1p-360
/* Where exp() ends: above it, it is infinite, which is no enclosure. */
#define TKI_EXP_END 704.0

typedef struct tki_elementary tki_elementary;

/* The tables, made when first asked for and kept until the process ends, read-only. */
TK_MUST_USE tk_status tki_elementary_open(const tki_elementary **tables);

double tki_exp(const tki_elementary *t, double x); /* x < TKI_EXP_END, else infinite */
/* y[i] = tki_exp(-d[i]) of numbers that are not negative. */
void tki_exp_minus_all(const tki_elementary *t, const double d[], int count, double y[]);
/* The functions of these names for many arguments: y[i] is bit for bit what they give for x[i]. */
void tki_sigmoid_all(const tki_elementary *t, const double x[], int count, double y[]);
void tki_silu_all(const tki_elementary *t, const double x[], int count, double y[]);
void tki_softplus_all(const tki_elementary *t, const double x[], int count, double y[]);
void tki_mish_all(const tki_elementary *t, const double x[], int count, double y[]);
double tki_expm1(const tki_elementary *t, double x); /* the same */
double tki_log(const tki_elementary *t, double x);   /* x > 0 */
double tki_log1p(const tki_elementary *t, double x); /* x > -1 */
double tki_tanh(const tki_elementary *t, double x);
double tki_sigmoid(const tki_elementary *t, double x);
double tki_silu(const tki_elementary *t, double x); /* x sigmoid(x) */
double tki_softplus(const tki_elementary *t, double x);
double tki_mish(const tki_elementary *t, double x);
double tki_erf(const tki_elementary *t, double x);
double tki_normal_cdf(const tki_elementary *t, double x);
double tki_gelu_tanh(const tki_elementary *t, double x);
/* 2 sqrt(2 / pi) (x + 0.044715 x^3), within 2^-50 of itself. */
double tki_gelu_tanh_argument(double x);
