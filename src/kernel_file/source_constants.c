/* CHOOSES. A lexer of numbers for C and its relatives, and one for listings of machine code. */
#include "kernel_file/source_constants.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMBER = 64 };

void tki_dictionary_add(tki_dictionary *dictionary, int64_t value)
{
    for (int i = 0; i < dictionary->integer_count; i++)
        if (dictionary->integers[i] == value)
            return;
    if (dictionary->integer_count < TKI_MOST_INTEGERS)
        dictionary->integers[dictionary->integer_count++] = value;
}

void tki_dictionary_add_float(tki_dictionary *dictionary, double value)
{
    for (int i = 0; i < dictionary->float_count; i++)
        if (dictionary->floats[i] == value)
            return;
    if (dictionary->float_count < TKI_MOST_FLOATS && isfinite(value))
        dictionary->floats[dictionary->float_count++] = value;
}

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool next_is(const cursor *c, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(c->end - c->at) >= length && !memcmp(c->at, text, length);
}

/* Behind the next occurrence of `text`, or at the end. */
static void skip_past(cursor *c, const char *text)
{
    while (c->at < c->end && !next_is(c, text))
        c->at++;
    c->at += c->at < c->end ? strlen(text) : 0;
}

/* Numbers that stand in strings: a kernel may read them from there. */
typedef struct quoted {
    int count;
    int64_t integers[16];
} quoted;

static void skip_quoted(cursor *c, quoted *numbers)
{
    enum { MOST_DIGITS = 9 };
    char quote = *c->at++;
    while (c->at < c->end && *c->at != quote && *c->at != '\n') {
        int64_t value = 0;
        int digits = 0;
        for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++)
            value = digits++ < MOST_DIGITS ? 10 * value + (*c->at - '0') : value;
        if (digits > 1 && digits <= MOST_DIGITS && numbers->count < (int)(sizeof numbers->integers / sizeof value))
            numbers->integers[numbers->count++] = value;
        if (digits == 0)
            c->at += *c->at == '\\' && c->end - c->at > 1 ? 2 : 1;
    }
    c->at += c->at < c->end;
}

static bool continues_name(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_';
}

/* A number as the preprocessor sees it: digits, letters, points, signs behind an exponent, digit separators. */
static size_t number_length(const cursor *c)
{
    const char *p = c->at;
    while (p < c->end) {
        bool hex = c->end - c->at > 1 && (c->at[1] == 'x' || c->at[1] == 'X');
        bool exponent = p > c->at && strchr(hex ? "pP" : "eE", p[-1]);
        bool separator = *p == '\'' && c->end - p > 1 && isalnum((unsigned char)p[1]);
        if (!continues_name(*p) && *p != '.' && !separator && !((*p == '+' || *p == '-') && exponent))
            break;
        p++;
    }
    return (size_t)(p - c->at);
}

/* What kind of number the last token was, and its value. */
typedef struct token {
    enum { NOTHING, INTEGER, REAL } kind;
    int64_t integer;
    double real;
} token;

static token read_number(const char *text, size_t length)
{
    char copy[LONGEST_NUMBER];
    size_t used = 0;
    for (size_t i = 0; i < length && used < sizeof copy - 1; i++)
        if (text[i] != '\'')
            copy[used++] = text[i];
    copy[used] = 0;
    bool hex = copy[0] == '0' && (copy[1] == 'x' || copy[1] == 'X');
    bool binary = copy[0] == '0' && (copy[1] == 'b' || copy[1] == 'B');
    if (strpbrk(copy, hex ? ".pP" : binary ? "." : ".eE"))
        return (token){REAL, 0, strtod(copy, NULL)};
    return (token){INTEGER, (int64_t)strtoull(binary ? copy + 2 : copy, NULL, binary ? 2 : 0), 0};
}

static void add_token(tki_dictionary *dictionary, const token *number)
{
    if (number->kind == INTEGER)
        tki_dictionary_add(dictionary, number->integer);
    else if (number->kind == REAL)
        tki_dictionary_add_float(dictionary, number->real);
}

static void add_pair(tki_dictionary *dictionary, const token *a, char joint, const token *b)
{
    int64_t value = 0;
    if (a->kind != INTEGER || b->kind != INTEGER)
        return;
    bool good = joint == '*'   ? !__builtin_mul_overflow(a->integer, b->integer, &value)
                : joint == '+' ? !__builtin_add_overflow(a->integer, b->integer, &value)
                : joint == '-' ? !__builtin_sub_overflow(a->integer, b->integer, &value)
                : joint == '<' ? b->integer >= 0 && b->integer < 62
                : joint == '/' ? b->integer > 0 && a->integer >= 0
                               : false;
    if (joint == '<' && good)
        value = (int64_t)((uint64_t)a->integer << b->integer);
    if (joint == '/' && good)
        value = a->integer / b->integer;
    if (good)
        tki_dictionary_add(dictionary, value);
}

static bool has_one_of(const char *text, size_t length, const char *const words[], size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found |= memmem(text, length, words[i], strlen(words[i])) != NULL;
    return found;
}

#define HAS_ONE_OF(text, length, words) has_one_of(text, length, words, sizeof(words) / sizeof *(words))

static void scan_casts(const char *text, size_t bytes, tki_dictionary *dictionary)
{
    static const char *const to_float[] = {"(float)", "<float>("};
    static const char *const to_integer[] = {"(int)",      "(int64_t)",  "(int32_t)", "(long)", "(unsigned)",
                                             "(uint32_t)", "(uint64_t)", "(size_t)",  "<int>(", "<int64_t>("};
    dictionary->conversions |= (HAS_ONE_OF(text, bytes, to_float) ? TKI_TO_FP32 << TKI_FP32_CASTS : 0u) |
                               (HAS_ONE_OF(text, bytes, to_integer) ? TKI_FROM_FP32 << TKI_FP32_CASTS : 0u);
}

void tki_dictionary_scan(const char *text, size_t bytes, tki_dictionary *dictionary)
{
    cursor c = {text, text + bytes};
    token last = {0}; /* the number before the operator, if nothing else stands between */
    char joint = 0;   /* < stands for << */
    quoted in_strings = {0};
    *dictionary = (tki_dictionary){0};
    scan_casts(text, bytes, dictionary);
    while (c.at < c.end) {
        if (next_is(&c, "//")) {
            skip_past(&c, "\n");
        } else if (next_is(&c, "/*")) {
            c.at += 2;
            skip_past(&c, "*/");
        } else if (*c.at == '"' || *c.at == '\'') {
            skip_quoted(&c, &in_strings);
            last.kind = NOTHING;
        } else if (isdigit((unsigned char)*c.at) ||
                   (*c.at == '.' && c.end - c.at > 1 && isdigit((unsigned char)c.at[1]))) {
            size_t length = number_length(&c);
            token number = read_number(c.at, length);
            add_token(dictionary, &number);
            if (joint)
                add_pair(dictionary, &last, joint, &number);
            last = number;
            joint = 0;
            c.at += length;
        } else if (continues_name(*c.at)) {
            while (c.at < c.end && continues_name(*c.at))
                c.at++;
            last.kind = NOTHING;
            joint = 0;
        } else if (next_is(&c, "<<")) {
            joint = '<';
            c.at += 2;
        } else {
            if (strchr("*/+-", *c.at) && *c.at)
                joint = *c.at;
            else if (!isspace((unsigned char)*c.at) && *c.at != '(' && *c.at != ')')
                last.kind = NOTHING;
            c.at++;
        }
    }
    for (int i = 0; i < in_strings.count; i++)
        tki_dictionary_add(dictionary, in_strings.integers[i]);
}

/* The divisor that a compiler has turned into a product by `factor` and a shift to the right, which begins at the product's bit 0, 32 or 64;
 * 0 if that is none. */
static int64_t divisor_of(uint64_t factor, int shift)
{
    enum { LEAST_FACTOR_BITS = 28, MOST_DIVISOR = 1 << 24 };
    if (factor >> LEAST_FACTOR_BITS == 0)
        return 0;
    for (int from = 0; from <= 64; from += 32) {
        int bits = from + shift;
        if (bits < 32 || bits > 96)
            continue;
        unsigned __int128 power = (unsigned __int128)1 << bits;
        unsigned __int128 divisor = (power + factor / 2) / factor;
        if (divisor < 3 || divisor > MOST_DIVISOR)
            continue;
        unsigned __int128 product = divisor * factor;
        unsigned __int128 off = product > power ? product - power : power - product;
        if (off <= power >> LEAST_FACTOR_BITS)
            return (int64_t)divisor;
    }
    return 0;
}

/* One instruction, "  1139:\tcmp    $0x60,%rax". For divisions, *factor is the last large constant and
 * *shift by how much was shifted last. */
static void scan_instruction(const char *line, size_t length, uint64_t *factor, int *shift,
                             tki_dictionary *dictionary)
{
    const char *end = line + length;
    const char *name = memchr(line, '\t', length);
    if (!name)
        return;
    name++;
    const cursor c = {name, end};
    const bool right_shift = next_is(&c, "shr") || next_is(&c, "sar") || next_is(&c, "lsr") || next_is(&c, "asr");
    for (const char *p = name; end - p > 1; p++) {
        char number[LONGEST_NUMBER];
        if ((*p != '$' && *p != '#') || (p > name && !strchr(" \t,[", p[-1])))
            continue;
        size_t used = 0;
        for (p++; p < end && used < sizeof number - 1 && (isalnum((unsigned char)*p) || (used == 0 && *p == '-'));
             p++)
            number[used++] = *p;
        number[used] = 0;
        int64_t value = number[0] == '-' ? strtoll(number, NULL, 0) : (int64_t)strtoull(number, NULL, 0);
        if (right_shift && value > 0 && value < 64) {
            int64_t divisor = divisor_of(*factor, (int)value);
            if (divisor) {
                tki_dictionary_add(dictionary, divisor);
                if (*shift < 16) /* an even dividend may be halved first */
                    tki_dictionary_add(dictionary, divisor << *shift);
            }
            *shift = (int)value;
        }
        if (value >> 28 != 0 && value >> 28 != -1)
            *factor = (uint64_t)value;
        else if (value < -2 && value > -(1 << 24))
            tki_dictionary_add(dictionary, -value); /* a mask's step, or what is taken away */
        else if (value > 2 && value < 1 << 24 && !right_shift)
            tki_dictionary_add(dictionary, value);
        p--;
    }
}

/* Is an operand an integer of 64 bits: a register that is no address, or memory by the instruction's ending? */
static bool is_wide(const char *line, size_t length)
{
    static const char *const wide[] = {"2ssq", "qq2ps", "ps2qq", "ps2uqq"};
    const char *end = line + length;
    bool found = HAS_ONE_OF(line, length, wide);
    int depth = 0;
    for (const char *p = line; end - p > 1 && !found; p++) {
        depth += (*p == '(') - (*p == ')');
        const bool x86 = depth == 0 && p[0] == '%' && p[1] == 'r';
        const char *last = p + 1;
        while (end - last > 1 && isalnum((unsigned char)last[1]))
            last++;
        found = (x86 && *last != 'd') ||
                (p > line && strchr(" \t,", p[-1]) && p[0] == 'x' && isdigit((unsigned char)p[1]));
    }
    return found;
}

static void scan_conversions(const char *line, size_t length, tki_dictionary *dictionary)
{
    static const char *const to_float[] = {"cvtsi2ss",  "cvtdq2ps", "cvtqq2ps", "cvtudq2ps",
                                           "cvtusi2ss", "scvtf",    "ucvtf"};
    static const char *const to_integer[] = {"cvttss2si", "cvtss2si", "cvttps2", "cvtps2dq", "cvttss2usi", "fcvtz"};
    const unsigned found = (HAS_ONE_OF(line, length, to_float) ? TKI_TO_FP32 : 0u) |
                           (HAS_ONE_OF(line, length, to_integer) ? TKI_FROM_FP32 : 0u);
    dictionary->conversions |= found;
    if (found && is_wide(line, length))
        dictionary->conversions |= found << TKI_FP32_WIDE;
}

void tki_dictionary_scan_code(const char *listing, size_t bytes, tki_dictionary *dictionary)
{
    const char *end = listing + bytes;
    uint64_t factor = 0;
    int shift = 0;
    while (listing < end) {
        const char *newline = memchr(listing, '\n', (size_t)(end - listing));
        size_t length = (size_t)((newline ? newline : end) - listing);
        /* What moves the stack's end says nothing about the kernel. */
        if (!memmem(listing, length, "%rsp", 4) && !memmem(listing, length, " sp,", 4))
            scan_instruction(listing, length, &factor, &shift, dictionary);
        scan_conversions(listing, length, dictionary);
        listing += length + (newline != NULL);
    }
}
