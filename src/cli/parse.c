/* SHOWS. From the text of an argument to its value. */
#include "cli/parse.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_error_set(cli_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

/* ------------------------------------------------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------------------------------------------------ */

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

/* All of text[0, length) as digits of that base. */
static bool parse_digits(const char *text, size_t length, int base, uint64_t *value)
{
    uint64_t result = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = digit_value(text[i]);
        if (digit >= base || __builtin_mul_overflow(result, (uint64_t)base, &result) ||
            __builtin_add_overflow(result, (uint64_t)digit, &result))
            return false;
    }
    *value = result;
    return length > 0;
}

static bool is_hexadecimal(const char *text, size_t length)
{
    return length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

static bool parse_unsigned(const char *text, size_t length, uint64_t *value)
{
    if (is_hexadecimal(text, length))
        return parse_digits(text + 2, length - 2, 16, value);
    return parse_digits(text, length, 10, value);
}

static bool parse_signed(const char *text, size_t length, int64_t *value)
{
    bool negative = length > 0 && text[0] == '-';
    uint64_t magnitude;
    if (!parse_digits(text + negative, length - negative, 10, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

bool cli_parse_unsigned(const char *text, uint64_t *value)
{
    return parse_unsigned(text, strlen(text), value);
}

bool cli_parse_signed(const char *text, int64_t *value)
{
    return parse_signed(text, strlen(text), value);
}

bool cli_parse_float(const char *text, float *value)
{
    char *end;
    if (!text[0] || isspace((unsigned char)text[0]))
        return false;
    float result = strtof(text, &end);
    if (*end || !isfinite(result))
        return false;
    *value = result;
    return true;
}

bool cli_parse_size(const char *text, int64_t *bytes)
{
    static const char units[] = "KMGT";
    const size_t length = strlen(text);
    const char *unit = length ? strchr(units, text[length - 1]) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    uint64_t count;
    if (!parse_digits(text, length - (unit != NULL), 10, &count) || !count || count > (uint64_t)INT64_MAX >> shift)
        return false;
    *bytes = (int64_t)(count << shift);
    return true;
}

bool cli_parse_count(const char *text, int low, int high, int *value)
{
    int64_t wide;
    if (!cli_parse_signed(text, &wide) || wide < low || wide > high)
        return false;
    *value = (int)wide;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------
 * Words
 * ------------------------------------------------------------------------------------------------------------ */

bool cli_parse_types(const char *text, cli_types *types)
{
    types->one = strcmp(text, "all") != 0;
    return !types->one || tk_types_parse(text, &types->types);
}

/* Edit distance of two short words, no larger than `limit` or limit + 1. A swap of neighbours counts as one edit. */
static int distance(const char *a, const char *b, int limit)
{
    enum { LONGEST = 48 };
    int m = (int)strnlen(a, LONGEST + 1);
    int n = (int)strnlen(b, LONGEST + 1);
    if (m > LONGEST || n > LONGEST || abs(m - n) > limit)
        return limit + 1;
    int row[LONGEST + 1][LONGEST + 1];
    for (int i = 0; i <= m; i++) {
        for (int j = 0; j <= n; j++) {
            if (i == 0 || j == 0) {
                row[i][j] = i + j;
                continue;
            }
            int best = row[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = row[i - 1][j] + 1 < best ? row[i - 1][j] + 1 : best;
            best = row[i][j - 1] + 1 < best ? row[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && row[i - 2][j - 2] + 1 < best)
                best = row[i - 2][j - 2] + 1;
            row[i][j] = best;
        }
    }
    return row[m][n];
}

const char *cli_nearest(const char *word, const char *const names[], int count)
{
    size_t length = strlen(word);
    if (length == 0)
        return NULL;
    int limit = length < 4 ? 1 : length < 9 ? 2 : 3;
    int nearest = -1;
    for (int i = 0; i < count; i++) {
        int d = distance(word, names[i], limit);
        if (d <= limit) {
            nearest = i;
            limit = d - 1;
        }
    }
    /* A name that the word begins, such as "softmax" or "exh". */
    for (int i = 0; i < count && nearest < 0 && length >= 3; i++)
        if (!strncmp(word, names[i], length))
            nearest = i;
    return nearest < 0 ? NULL : names[nearest];
}

/* ------------------------------------------------------------------------------------------------------------
 * Shapes
 * ------------------------------------------------------------------------------------------------------------ */

static bool copy_name(char to[CLI_NAME_SIZE], const char *from, size_t length)
{
    if (length == 0 || length >= CLI_NAME_SIZE)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)from[i]) && from[i] != '_')
            return false;
        to[i] = from[i];
    }
    to[length] = '\0';
    return true;
}

/* One size of a shape: "257" or "n=257". */
static bool parse_size(const char *item, size_t length, cli_shape *shape, cli_error *error)
{
    if (shape->count == TK_MAX_DIMS)
        return cli_error_set(error, "has more than %d sizes", TK_MAX_DIMS);
    int i = shape->count++;
    const char *equals = memchr(item, '=', length);
    if (i > 0 && shape->named != (equals != NULL))
        return cli_error_set(error, "names some sizes and not others");
    shape->named = equals != NULL;
    size_t skip = 0;
    if (equals) {
        skip = (size_t)(equals - item) + 1;
        if (!copy_name(shape->names[i], item, skip - 1))
            return cli_error_set(error, "has a size with an invalid name");
        for (int earlier = 0; earlier < i; earlier++)
            if (!strcmp(shape->names[earlier], shape->names[i]))
                return cli_error_set(error, "gives '%s' twice", shape->names[i]);
    }
    if (!parse_signed(item + skip, length - skip, &shape->sizes[i]) || shape->sizes[i] < 0)
        return cli_error_set(error, "has '%.*s'; a size must be a number from 0 to %lld",
                             (int)(length - skip < 40 ? length - skip : 40), item + skip, (long long)INT64_MAX);
    return true;
}

bool cli_parse_shape(const char *text, cli_shape *shape, cli_error *error)
{
    *shape = (cli_shape){0};
    const char *separator = strchr(text, '=') ? "," : "x";
    for (const char *item = text;;) {
        const char *end = item + strcspn(item, separator);
        if (!parse_size(item, (size_t)(end - item), shape, error))
            return false;
        if (!*end)
            return true;
        item = end + 1;
    }
}

void cli_list_sizes(const tk_contract *contract, char *text, size_t size)
{
    text[0] = '\0';
    for (int d = 0; d < contract->dim_count; d++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", d ? ", " : "", contract->dim_names[d]);
    }
}

static bool follows(const tk_contract *contract, int d)
{
    return contract->derived && contract->derived[d];
}

/* Sizes that were not given follow from the others. */
static bool derive_rest(tk_case *c, const bool given[], cli_error *error)
{
    tk_case all = *c;
    if (c->contract->derive)
        c->contract->derive(&all);
    for (int d = 0; d < c->contract->dim_count; d++) {
        if (given[d])
            continue;
        if (!follows(c->contract, d))
            return cli_error_set(error, "has no size '%s', from which others of %s may follow",
                                 c->contract->dim_names[d], c->contract->name);
        if (all.dims[d] < 0)
            return cli_error_set(error, "makes %s = %s negative", c->contract->dim_names[d], c->contract->derived[d]);
        c->dims[d] = all.dims[d];
    }
    return true;
}

bool cli_shape_fit(const cli_shape *shape, tk_case *c, cli_error *error)
{
    const tk_contract *contract = c->contract;
    bool given[TK_MAX_DIMS] = {false};
    char sizes[128];
    int free = 0;
    cli_list_sizes(contract, sizes, sizeof sizes);
    for (int d = 0; d < contract->dim_count; d++)
        free += !follows(contract, d);
    const bool all = shape->count == contract->dim_count;
    if (!all && shape->count != free && (!shape->named || shape->count < free || shape->count > contract->dim_count))
        return cli_error_set(error, "has %d size%s, but %s has %d: %s", shape->count, shape->count == 1 ? "" : "s",
                             contract->name, contract->dim_count, sizes);
    for (int i = 0, d = 0; i < shape->count; i++, d++) {
        if (shape->named)
            for (d = 0; d < contract->dim_count && strcmp(shape->names[i], contract->dim_names[d]) != 0;)
                d++;
        while (!shape->named && !all && follows(contract, d))
            d++;
        if (d == contract->dim_count)
            return cli_error_set(error, "has a size '%s', but those of %s are: %s", shape->names[i], contract->name,
                                 sizes);
        c->dims[d] = shape->sizes[i];
        given[d] = true;
    }
    return derive_rest(c, given, error);
}

/* ------------------------------------------------------------------------------------------------------------
 * Tensors given bit by bit
 * ------------------------------------------------------------------------------------------------------------ */

static bool parse_element(const char *item, size_t length, cli_input *input)
{
    uint64_t *bits = &input->bits[input->count++];
    if (is_hexadecimal(item, length)) {
        if (!parse_digits(item + 2, length - 2, 16, bits))
            return false;
        input->highest_pattern = *bits > input->highest_pattern ? *bits : input->highest_pattern;
        return true;
    }
    int64_t value;
    if (!parse_signed(item, length, &value))
        return false;
    *bits = (uint64_t)value;
    input->has_decimal = true;
    input->lowest = value < input->lowest ? value : input->lowest;
    if (value > 0 && *bits > input->highest_decimal)
        input->highest_decimal = *bits;
    return true;
}

static bool parse_elements(const char *list, cli_input *input, cli_error *error)
{
    size_t commas = 0;
    for (const char *c = list; *c; c++)
        commas += *c == ',';
    input->bits = calloc(commas + 1, sizeof *input->bits);
    if (!input->bits)
        return cli_error_set(error, "does not fit in memory");
    if (!*list)
        return true;
    for (const char *item = list;;) {
        const char *end = item + strcspn(item, ",");
        if (!parse_element(item, (size_t)(end - item), input))
            return cli_error_set(error, "has '%.*s' as element %lld; write patterns as 0x3c00",
                                 (int)(end - item < 40 ? end - item : 40), item, (long long)input->count - 1);
        if (!*end)
            return true;
        item = end + 1;
    }
}

bool cli_parse_input(const char *text, cli_input *input, cli_error *error)
{
    *input = (cli_input){0};
    const char *equals = strchr(text, '=');
    if (!equals || !copy_name(input->name, text, (size_t)(equals - text)))
        return cli_error_set(error, "must be NAME=0x3c00,0x...");
    if (parse_elements(equals + 1, input, error))
        return true;
    cli_input_free(input);
    return false;
}

void cli_input_free(cli_input *input)
{
    free(input->bits);
    *input = (cli_input){0};
}

bool cli_input_fit(cli_input *input, tk_dtype dtype, cli_error *error)
{
    bool index = dtype == TK_I32 || dtype == TK_I64;
    if (input->has_decimal && !index)
        return cli_error_set(error, "has decimal elements; write the bit patterns of %s as 0x3c00",
                             tk_dtype_name(dtype));
    unsigned width = 8 * (unsigned)tk_dtype_size(dtype);
    uint64_t largest_pattern = UINT64_MAX >> (64 - width);
    uint64_t largest_index = largest_pattern >> 1;
    if (input->highest_pattern > largest_pattern || input->highest_decimal > largest_index ||
        input->lowest < -(int64_t)largest_index - 1)
        return cli_error_set(error, "has an element that does not fit in the %u bits of %s", width,
                             tk_dtype_name(dtype));
    for (int64_t i = 0; i < input->count; i++)
        if (index && input->bits[i] > largest_index)
            input->bits[i] |= ~largest_pattern;
    return true;
}
