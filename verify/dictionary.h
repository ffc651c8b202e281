/* TRUSTED. The constants of a kernel's source: what it may compare sizes, options and elements with, divide or mask them by. The text may
 * be anything. */
#ifndef TKI_VERIFY_DICTIONARY_H
#define TKI_VERIFY_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

enum { TKI_MOST_INTEGERS = 96, TKI_MOST_FLOATS = 48 };

/* Each once, in the order in which they come. */
typedef struct tki_dictionary {
    int integer_count;
    int64_t integers[TKI_MOST_INTEGERS];
    int float_count;
    double floats[TKI_MOST_FLOATS];
} tki_dictionary;

/* Numbers outside comments and strings, and what two of them joined by *, /, +, - or << come to. */
void tki_dictionary_scan(const char *text, size_t bytes, tki_dictionary *dictionary);

void tki_dictionary_add(tki_dictionary *dictionary, int64_t value); /* as long as there is room */
void tki_dictionary_add_float(tki_dictionary *dictionary, double value);

#endif
