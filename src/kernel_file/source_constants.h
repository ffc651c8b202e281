/* CHOOSES. The constants of a kernel's source and of its machine code: what it may compare sizes, options and elements with, divide or mask
 * them by. The texts may be anything. */
#pragma once

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
} tki_dictionary;

/* Numbers outside comments and strings, and what two of them joined by *, /, +, - or << come to. */
void tki_dictionary_scan(const char *text, size_t bytes, tki_dictionary *dictionary);

/* Adds the constants of a listing as objdump -d prints it, x86-64's or AArch64's: those that the source spells as enumerations, macros
 * or expressions have their values here. A division by a constant, which x86-64's compilers turn into a product and a
 * shift, gives its divisor. */
void tki_dictionary_scan_code(const char *listing, size_t bytes, tki_dictionary *dictionary);

void tki_dictionary_add(tki_dictionary *dictionary, int64_t value); /* as long as there is room */
void tki_dictionary_add_float(tki_dictionary *dictionary, double value);
