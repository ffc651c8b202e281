/* TRUSTED. The bounds and special values of the three matrix products, used by their oracle and their tests. */
#ifndef TKI_OPS_GEMM_CONTRACT_H
#define TKI_OPS_GEMM_CONTRACT_H

#include "core/export.h"
#include "tokitai.h"

/* Indices into the clauses of all three contracts. */
enum { TKI_GEMM_ERR, TKI_GEMM_OVERFLOW, TKI_GEMM_NAN, TKI_GEMM_INF };

/* What occurs among the products of one output element, as flags. */
enum { TKI_GEMM_HAS_NAN = 1, TKI_GEMM_HAS_PLUS_INF = 2, TKI_GEMM_HAS_MINUS_INF = 4 };

/* Is the sum of such products NaN? */
static inline bool tki_gemm_is_nan(unsigned flags)
{
    const unsigned both = TKI_GEMM_HAS_PLUS_INF | TKI_GEMM_HAS_MINUS_INF;
    return (flags & TKI_GEMM_HAS_NAN) || (flags & both) == both;
}

/* One output element: the number of products K, how many of them are nonzero, and an upper bound of the sum of their
 * absolute values over those that are finite; on matrix units, of the absolute values with which they are aligned: there a factor other
 * than zero counts for no less than the smallest normal number of its type. */
typedef struct tki_gemm_sum {
    tk_dtype dtype;            /* of the factors */
    int numerics, matrix_unit; /* TKI_NUMERICS_..., TKI_UNIT_... */
    bool exact;                /* tki_sum_is_exact() */
    double products, nonzero, magnitude;
} tki_gemm_sum;

/* B, rounded up. */
TKI_EXPORT double tki_gemm_bound(tki_gemm_sum sum);

/* Can a sum in fp32 overflow on the way, whatever its order? Never for fp16. */
bool tki_gemm_may_overflow(tki_gemm_sum sum);

/* What is admitted, and the clause that says so. `flags` tells what occurs among the products. */
TKI_EXPORT unsigned tki_gemm_admits(tki_gemm_sum sum, unsigned flags, int *clause);

#endif
