/* DECIDES. The bounds of sums of products: of matrix products, and of what is added to one before it is rounded. Inline, since contracts
 * belong to libtokitai and oracles to libtokitai-verify. docs/contracts.md has the proofs. */
#pragma once

#include <math.h>

#include "exact/admit.h"
#include "exact/exact_sum.h"
#include "exact/fp32.h"
#include "model/format.h"
#include "model/attributes.h"
#include "tokitai.h"

/* Covers the roundings of one bound's evaluation in double: the bounds are rounded up. */
#define TKI_PRODUCT_ROUND_UP (1 + 0x1p-48)
/* A matrix unit truncates its sums to fp32: less than this of themselves is lost. */
#define TKI_MATRIX_UNIT_STORE 0x1p-23
/* Covers what further additions in fp32 add to a sum that is added to once more. */
#define TKI_PRODUCT_GROWTH (1 + 0x1p-20)
/* Sums of fp16 products and further terms below this cannot overflow. */
#define TKI_PRODUCT_F16_EXTRAS 0x1p100

/* What occurs among the terms of one sum, as flags. */
enum { TKI_SUM_HAS_NAN = 1, TKI_SUM_HAS_PLUS_INF = 2, TKI_SUM_HAS_MINUS_INF = 4 };

/* Is the sum of such terms NaN? */
static inline bool tki_sum_is_nan(unsigned flags)
{
    const unsigned both = TKI_SUM_HAS_PLUS_INF | TKI_SUM_HAS_MINUS_INF;
    return (flags & TKI_SUM_HAS_NAN) || (flags & both) == both;
}

/* The flag of one term. */
static inline unsigned tki_sum_flag(double term)
{
    return isnan(term)    ? TKI_SUM_HAS_NAN
           : !isinf(term) ? 0u
           : term > 0     ? TKI_SUM_HAS_PLUS_INF
                          : TKI_SUM_HAS_MINUS_INF;
}

/* One output element: the number of products K, how many of them are nonzero, and an upper bound of the sum of their
 * absolute values over those that are finite; on matrix units, of the absolute values with which they are aligned: there a factor other
 * than zero counts for no less than the smallest normal number of its type. */
typedef struct tki_product_sum {
    tk_dtype dtype; /* of the factors; of either, if these are of different types of 8 bits: bounds are the same */
    int numerics, matrix_unit; /* TKI_NUMERICS_..., TKI_UNIT_... */
    bool exact;                /* tki_sum_is_exact() */
    double products, nonzero, magnitude;
    /* Further terms of the sum, finite numbers of fp32 or 16 bits: how many are nonzero, and the sum of their absolute values. */
    double extras, extra_magnitude;
} tki_product_sum;

/* Adds one to the further terms. */
static inline void tki_product_sum_add(tki_product_sum *sum, double extra)
{
    sum->extras += extra != 0;
    sum->extra_magnitude += fabs(extra);
}

/* Blocks of L products; the products of a block and the accumulator are aligned to the largest of them and truncated at F fraction bits. */
typedef struct tki_matrix_unit {
    double block, truncation; /* L, 2^-F */
} tki_matrix_unit;

static inline tki_matrix_unit tki_matrix_unit_of(int matrix_unit)
{
    switch (matrix_unit) {
    case TKI_UNIT_SM_80: return (tki_matrix_unit){8, 0x1p-24};
    case TKI_UNIT_SM_90: return (tki_matrix_unit){8, 0x1p-25};
    default: return (tki_matrix_unit){4, 0x1p-23};
    }
}

static inline double tki_product_tensor_core_bound(tki_product_sum sum)
{
    const tki_matrix_unit unit = tki_matrix_unit_of(sum.matrix_unit);
    double blocks = ceil(sum.products / unit.block);
    blocks = sum.nonzero < blocks ? sum.nonzero : blocks;
    const double magnitude = sum.magnitude + sum.extra_magnitude;
    const bool alone = sum.nonzero + sum.extras <= 1 || sum.nonzero == 0;
    const double factor = alone ? 0
                                : sum.nonzero * unit.truncation + blocks * (unit.truncation + TKI_MATRIX_UNIT_STORE);
    const double underflow = tki_products_underflow(sum.dtype) ? blocks * TKI_FP32_SMALLEST : 0;
    const double product = factor * magnitude + underflow;
    /* Further terms are where the accumulator begins, or are added to it in fp32 afterwards. */
    const double additions = sum.nonzero > 0 || sum.extras == 0 ? sum.extras : sum.extras - 1;
    return (product + additions * TKI_U * TKI_PRODUCT_GROWTH * (magnitude + product)) * TKI_PRODUCT_ROUND_UP;
}

/* B, rounded up. */
static inline double tki_product_bound(tki_product_sum sum)
{
    if (sum.exact)
        return 0;
    if (sum.numerics == TKI_NUMERICS_TENSOR_CORE)
        return tki_product_tensor_core_bound(sum);
    const double terms = sum.nonzero + sum.extras;
    const double additions = terms > 1 ? terms - 1 : 0;
    /* Products of 16-bit numbers have at most 22 bits; one of fp32 numbers is rounded too. */
    const double roundings = !tki_products_fit_fp32(sum.dtype) && sum.nonzero > 0 ? terms : additions;
    /* A product below 2^-126 is rounded to a multiple of 2^-149, and the additions then see it rounded. fp16 has none. */
    const double passed = sum.products + sum.extras;
    const double underflow = tki_products_underflow(sum.dtype)
                                 ? (1 + passed * TKI_U) * sum.products * TKI_FP32_UNDERFLOW
                                 : 0;
    return (roundings * TKI_U * (sum.magnitude + sum.extra_magnitude) + underflow) * TKI_PRODUCT_ROUND_UP;
}

/* Can a sum in fp32 overflow on the way, whatever its order? Never of fp16 alone. */
static inline bool tki_product_may_overflow(tki_product_sum sum)
{
    /* fp16 products are at most 2^32. For K below 2^59 (1 + K u) sum|ab| stays below 2^127; that many elements do not
     * fit in a 57-bit address space. */
    if (!tki_products_overflow(sum.dtype) && sum.extra_magnitude < TKI_PRODUCT_F16_EXTRAS)
        return false;
    const double passed = (1 + (sum.products + sum.extras) * TKI_U) * (sum.magnitude + sum.extra_magnitude);
    return passed * TKI_PRODUCT_ROUND_UP >= TKI_FP32_OVERFLOW;
}

/* The clause that decides a sum, in the order in which contracts list theirs. */
enum { TKI_SUM_ERR, TKI_SUM_OVERFLOW, TKI_SUM_NAN, TKI_SUM_INF };

/* What is admitted, and the clause that says so. `flags` tells what occurs among the terms. */
static inline unsigned tki_product_admits(tki_product_sum sum, unsigned flags, int *clause)
{
    if (tki_sum_is_nan(flags)) {
        *clause = TKI_SUM_NAN;
        return TKI_ADMIT_NAN;
    }
    const bool may_overflow = tki_product_may_overflow(sum);
    if (flags) {
        *clause = may_overflow ? TKI_SUM_OVERFLOW : TKI_SUM_INF;
        return (flags & TKI_SUM_HAS_PLUS_INF ? TKI_ADMIT_PLUS_INF : TKI_ADMIT_MINUS_INF) |
               (may_overflow ? TKI_ADMIT_NAN : 0u);
    }
    *clause = may_overflow ? TKI_SUM_OVERFLOW : TKI_SUM_ERR;
    return TKI_ADMIT_INTERVAL | (may_overflow ? TKI_ADMIT_NAN | TKI_ADMIT_PLUS_INF | TKI_ADMIT_MINUS_INF : 0u);
}
