/* SHOWS. From the text of an argument to its value. Pure functions: nothing is printed, nothing is read but the argument.
 * Strict: no blanks, no signs where none belong, nothing left over, and every overflow is noticed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokitai_verify.h"

/* What is wrong with an argument, as a sentence without a full stop. */
typedef struct cli_error {
    char text[512];
} cli_error;

__attribute__((format(printf, 2, 3))) bool cli_error_set(cli_error *error, const char *format, ...); /* false */

/* Decimal, or hexadecimal after 0x. */
bool cli_parse_unsigned(const char *text, uint64_t *value);
/* Decimal, with an optional minus sign. */
bool cli_parse_signed(const char *text, int64_t *value);
/* A finite number, as strtof() reads it. */
bool cli_parse_float(const char *text, float *value);
/* Bytes: a decimal number, alone or with K, M, G or T behind it, which count by 1024. At least 1. */
bool cli_parse_size(const char *text, int64_t *bytes);
/* A decimal number from `low` to `high`. */
bool cli_parse_count(const char *text, int low, int high, int *value);

/* The element types that are wanted of those that an op takes: all of them, or one. */
typedef struct cli_types {
    bool one;
    tk_types types; /* if it is one */
} cli_types;

/* "f16", "f16-f32" and the like, or "all". */
bool cli_parse_types(const char *text, cli_types *types);

/* A shape as written: "257", "16x33", "n=257" or "m=3,n=4,k=5". Names are all given or all left out. */
enum { CLI_NAME_SIZE = 32 };

typedef struct cli_shape {
    int count;
    bool named;
    char names[TK_MAX_DIMS][CLI_NAME_SIZE];
    int64_t sizes[TK_MAX_DIMS];
} cli_shape;

/* "m, n, k": the sizes of an op. */
void cli_list_sizes(const tk_contract *contract, char *text, size_t size);

bool cli_parse_shape(const char *text, cli_shape *shape, cli_error *error);

/* The sizes of a case whose attributes are set. Those that follow from others need not be given; an error names the op and the sizes that it
 * has. */
bool cli_shape_fit(const cli_shape *shape, tk_case *c, cli_error *error);

/* One tensor, bit by bit: "x=0x3c00,0xfc00"; an index may also be given in decimal, -1 included. "x=" is a tensor
 * without elements. */
typedef struct cli_input {
    char name[CLI_NAME_SIZE];
    uint64_t *bits; /* [count] */
    int64_t count;
    bool has_decimal;
    int64_t lowest;           /* the lowest negative element, else 0 */
    uint64_t highest_decimal; /* 0 if there is none */
    uint64_t highest_pattern; /* the same of those in hexadecimal */
} cli_input;

bool cli_parse_input(const char *text, cli_input *input, cli_error *error);
void cli_input_free(cli_input *input);

/* Checks that the elements are of this type. Indices come out sign-extended to 64 bits. */
bool cli_input_fit(cli_input *input, tk_dtype dtype, cli_error *error);

/* The one of `names` nearest to `word`, or NULL if none is near enough to be what was meant. */
const char *cli_nearest(const char *word, const char *const names[], int count);
