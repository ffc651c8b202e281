/* CHOOSES. Reading files of the cache: lines "NAME VALUE" in a fixed order. Nothing is trusted, and the first field that is not as it should be is
 * remembered. */
#pragma once

#include "compile/compiled_kernel.h"
#include "core/export.h"

typedef struct tki_reader {
    const char *place;
    const char *end;
    const char *wrong; /* the first field that is not as it should be, NULL so far */
} tki_reader;

/* The next line, without its end; false if there is none. */
bool tki_take_line(tki_reader *r, const char **line, size_t *length);

/* A line that is exactly this text; "first line" is wrong otherwise. */
TKI_EXPORT void tki_take_first_line(tki_reader *r, const char *text);

/* A line "NAME VALUE" whose value has no control characters and fits. */
TKI_EXPORT void tki_take_field(tki_reader *r, const char *name, char *value, size_t size);
TKI_EXPORT void tki_take_hash(tki_reader *r, const char *name, char hash[TKI_DIGEST_HEX]);
TKI_EXPORT uint64_t tki_take_number(tki_reader *r, const char *name, uint64_t most);

/* Decimal, no sign, no leading zero, up to `most`; *text moves behind it. */
bool tki_read_number(const char **text, uint64_t most, uint64_t *value);

/* Up to the next blank or the end, if it is not empty and fits; *at moves behind it. */
TKI_EXPORT bool tki_take_word(const char **at, char *word, size_t size);

/* Was every field as it should be, and nothing behind the last one? */
TKI_EXPORT bool tki_reader_ended(const tki_reader *r, char *problem, size_t problem_size);

/* Always false, for `return`. */
TKI_EXPORT __attribute__((format(printf, 3, 4))) bool tki_complain(char *problem, size_t size, const char *format,
                                                                   ...);
