/* TRUSTED. The bounds and special values of gelu, used by its oracle and its tests. */
#ifndef TKI_OPS_GELU_CONTRACT_H
#define TKI_OPS_GELU_CONTRACT_H

#include "core/export.h"
#include "tokitai.h"

/* Indices into the clauses of both contracts. */
enum { TKI_GELU_ERR, TKI_GELU_NAN, TKI_GELU_INF };

/* B(x); for the gradient, (B - TKI_GELU_BWD_UNDERFLOW) / |grad_output|. Arguments are upper bounds of the absolute values
 * they name. */
TKI_EXPORT double tki_gelu_fwd_bound(double x, double two_z, double one_minus_sigma, double y);
TKI_EXPORT double tki_gelu_bwd_bound(double two_z, double sigma, double one_minus_sigma, double h);

/* The product grad_output g' is formed in fp32, where a subnormal result is rounded to a multiple of 2^-149 whatever its
 * size. With |grad_output| >= 2^-24, as in fp16, the 2^-126 term covers that; with the subnormals of bf16 nothing else
 * does. */
#define TKI_GELU_BWD_UNDERFLOW 0x1p-150

/* What is admitted where an input is NaN or infinite, and the clause that says so; 0 where both are finite.
 * `derivative` is g'(x), read only when x is finite. */
TKI_EXPORT unsigned tki_gelu_fwd_special(double x, int *clause);
TKI_EXPORT unsigned tki_gelu_bwd_special(double grad_output, double x, double derivative, int *clause);

#endif
