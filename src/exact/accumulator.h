/* DECIDES. Exact sums of values in fp16, bf16 or fp32 and of products of two of them: a fixed-point number wide enough that
 * nothing is ever rounded. Finite inputs only. */
#pragma once

#include <mpfr.h>

#include "tokitai.h"

/* Two's complement, little-endian words; the unit is 2^TKI_ACCUMULATOR_UNIT. fp32 products span 2^-298 .. 2^256, so
 * 640 bits leave room for 2^84 terms. */
enum { TKI_ACCUMULATOR_WORDS = 10, TKI_ACCUMULATOR_UNIT = -298 };

typedef struct tki_accumulator {
    uint64_t word[TKI_ACCUMULATOR_WORDS];
} tki_accumulator;

/* Precision at which tki_accumulator_get() and a product of its result with one element are exact. */
enum {
    TKI_ACCUMULATOR_BITS = 64 * TKI_ACCUMULATOR_WORDS,
    TKI_ACCUMULATOR_TIMES_ELEMENT_BITS = TKI_ACCUMULATOR_BITS + 24
};

void tki_accumulator_clear(tki_accumulator *sum);
void tki_accumulator_add(tki_accumulator *sum, tk_dtype dtype, uint32_t bits);
void tki_accumulator_add_product(tki_accumulator *sum, tk_dtype a_dtype, uint32_t a, tk_dtype b_dtype, uint32_t b);

/* The sum, exactly; `value` must have at least TKI_ACCUMULATOR_BITS of precision. */
void tki_accumulator_get(const tki_accumulator *sum, mpfr_ptr value);
