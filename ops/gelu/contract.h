/* TRUSTED. The bounds and special values of gelu, used by its oracle and its tests. */
#ifndef TKI_OPS_GELU_CONTRACT_H
#define TKI_OPS_GELU_CONTRACT_H

#include "tokitai.h"

/* Indices into the clauses of both contracts. */
enum { TKI_GELU_ERR, TKI_GELU_NAN, TKI_GELU_INF };

/* B(x), or B(x) / |grad_output| for the gradient. Arguments are upper bounds of the absolute values they name. */
double tki_gelu_fwd_bound(double x, double two_z, double one_minus_sigma, double y);
double tki_gelu_bwd_bound(double two_z, double sigma, double one_minus_sigma, double h);

/* What is admitted where an input is NaN or infinite, and the clause that says so; 0 where both are finite.
 * `derivative` is g'(x), read only when x is finite. */
unsigned tki_gelu_fwd_special(double x, int *clause);
unsigned tki_gelu_bwd_special(double grad_output, double x, double derivative, int *clause);

#endif
