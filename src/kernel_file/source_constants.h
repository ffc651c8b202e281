/* CHOOSES. The constants of a kernel's source and of its machine code: what it may compare sizes, options and elements with, divide or mask
 * them by. The texts may be anything. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TKI_MOST_INTEGERS = 128, TKI_MOST_FLOATS = 48 };

/* Each once, in the order in which they come. */
typedef struct tki_dictionary {
    int integer_count;
    int own_integers; /* so many at the beginning are of the source; the others are of the code alone */
    int64_t integers[TKI_MOST_INTEGERS];
    int float_count;
    double floats[TKI_MOST_FLOATS];
    unsigned conversions; /* TKI_TO_FP32 ... */
} tki_dictionary;

/* What the code converts to fp32 and from it: integers of 32 bits, as a header does with elements of 16 bits, and of 64; and what the source
 * casts. */
enum {
    TKI_TO_FP32 = 1,
    TKI_FROM_FP32 = 2,
    TKI_FP32_BOTH = TKI_TO_FP32 | TKI_FROM_FP32,
    TKI_FP32_WIDE = 2, /* shift */
    TKI_FP32_CASTS = 4 /* shift */
};

/* May it count in fp32, which holds the integers up to 2^24? */
static inline bool tki_counts_in_fp32(const tki_dictionary *d)
{
    const unsigned wide = d->conversions >> TKI_FP32_WIDE & TKI_FP32_BOTH, any = d->conversions & TKI_FP32_BOTH;
    const unsigned casts = d->conversions >> TKI_FP32_CASTS & TKI_FP32_BOTH;
    return wide == TKI_FP32_BOTH || (any == TKI_FP32_BOTH && casts == TKI_FP32_BOTH);
}

/* May it compare integers of 64 bits in fp32, where two beyond 2^24 are one? */
static inline bool tki_compares_in_fp32(const tki_dictionary *d)
{
    return d->conversions >> TKI_FP32_WIDE & TKI_TO_FP32 || tki_counts_in_fp32(d);
}

/* Numbers outside comments, and what two of them joined by *, /, +, - or << come to; behind all others those of two to nine digits that stand
 * in strings. */
void tki_dictionary_scan(const char *text, size_t bytes, tki_dictionary *dictionary);

/* Adds the constants of a listing as objdump -d prints it, x86-64's or AArch64's: those that the source spells as enumerations, macros
 * or expressions have their values here. A division by a constant, which x86-64's compilers turn into a product and a
 * shift, gives its divisor. */
void tki_dictionary_scan_code(const char *listing, size_t bytes, tki_dictionary *dictionary);

void tki_dictionary_add(tki_dictionary *dictionary, int64_t value); /* as long as there is room */
void tki_dictionary_add_float(tki_dictionary *dictionary, double value);
