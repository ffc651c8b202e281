/* RECORDS. Element types: one row for each. */
#include "tensors/element.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the patterns with the largest exponent, or the pattern of minus zero, stand for. */
typedef enum specials {
    INTEGER,  /* no floating-point number at all */
    NATURAL,  /* unsigned */
    IEEE,     /* infinity, and NaN with a fraction */
    ONE_NAN,  /* numbers; NaN only where all bits but the sign are set */
    NEGATIVE, /* numbers; minus zero is the NaN, and the bias is larger by one */
    NUMBERS,  /* numbers */
    POWER,    /* an exponent alone; all ones is NaN */
    COMPLEX   /* two fp32 */
} specials;

typedef struct row {
    const char *name;
    int bits;
    specials kind;
    int exponent, fraction; /* bits */
} row;

static const row rows[TKI_ELEMENT_TYPES] = {
    [TKI_ELEMENT_BOOL] = {"BOOL", 8, NATURAL, 0, 0},
    [TKI_ELEMENT_F4] = {"F4", 4, NUMBERS, 2, 1},
    [TKI_ELEMENT_F6_E2M3] = {"F6_E2M3", 6, NUMBERS, 2, 3},
    [TKI_ELEMENT_F6_E3M2] = {"F6_E3M2", 6, NUMBERS, 3, 2},
    [TKI_ELEMENT_U8] = {"U8", 8, NATURAL, 0, 0},
    [TKI_ELEMENT_I8] = {"I8", 8, INTEGER, 0, 0},
    [TKI_ELEMENT_F8_E5M2] = {"F8_E5M2", 8, IEEE, 5, 2},
    [TKI_ELEMENT_F8_E4M3] = {"F8_E4M3", 8, ONE_NAN, 4, 3},
    [TKI_ELEMENT_F8_E8M0] = {"F8_E8M0", 8, POWER, 8, 0},
    [TKI_ELEMENT_F8_E4M3FNUZ] = {"F8_E4M3FNUZ", 8, NEGATIVE, 4, 3},
    [TKI_ELEMENT_F8_E5M2FNUZ] = {"F8_E5M2FNUZ", 8, NEGATIVE, 5, 2},
    [TKI_ELEMENT_I16] = {"I16", 16, INTEGER, 0, 0},
    [TKI_ELEMENT_U16] = {"U16", 16, NATURAL, 0, 0},
    [TKI_ELEMENT_F16] = {"F16", 16, IEEE, 5, 10},
    [TKI_ELEMENT_BF16] = {"BF16", 16, IEEE, 8, 7},
    [TKI_ELEMENT_I32] = {"I32", 32, INTEGER, 0, 0},
    [TKI_ELEMENT_U32] = {"U32", 32, NATURAL, 0, 0},
    [TKI_ELEMENT_F32] = {"F32", 32, IEEE, 8, 23},
    [TKI_ELEMENT_C64] = {"C64", 64, COMPLEX, 0, 0},
    [TKI_ELEMENT_F64] = {"F64", 64, IEEE, 11, 52},
    [TKI_ELEMENT_I64] = {"I64", 64, INTEGER, 0, 0},
    [TKI_ELEMENT_U64] = {"U64", 64, NATURAL, 0, 0},
};

const char *tki_element_name(tki_element_type type)
{
    return rows[type].name;
}

bool tki_element_find(const char *name, tki_element_type *type)
{
    for (int i = 0; i < TKI_ELEMENT_TYPES; i++)
        if (!strcmp(name, rows[i].name)) {
            *type = (tki_element_type)i;
            return true;
        }
    return false;
}

int tki_element_bits(tki_element_type type)
{
    return rows[type].bits;
}

uint64_t tki_element_at(tki_element_type type, const void *data, int64_t index)
{
    const unsigned char *bytes = data;
    const int bits = rows[type].bits;
    uint64_t pattern = 0;
    switch (bits) { /* files are little-endian */
    case 8: return bytes[index];
    case 16: return bytes[2 * index] | (uint64_t)bytes[2 * index + 1] << 8;
    case 32: memcpy(&pattern, bytes + 4 * index, 4); return le64toh(pattern);
    case 64: memcpy(&pattern, bytes + 8 * index, 8); return le64toh(pattern);
    default: break;
    }
    for (int i = 0; i < bits; i++) { /* from the lowest bit of the first byte on */
        const int64_t at = index * bits + i;
        pattern |= (uint64_t)(bytes[at / 8] >> (at % 8) & 1) << i;
    }
    return pattern;
}

static uint64_t magnitude_mask(const row *r)
{
    return ((uint64_t)1 << (r->exponent + r->fraction)) - 1;
}

bool tki_element_is_nan(tki_element_type type, uint64_t bits)
{
    const row *r = &rows[type];
    const uint64_t magnitude = bits & magnitude_mask(r);
    const uint64_t infinity = magnitude_mask(r) >> r->fraction << r->fraction;
    switch (r->kind) {
    case IEEE: return magnitude > infinity;
    case ONE_NAN: return magnitude == magnitude_mask(r);
    case NEGATIVE: return magnitude == 0 && bits != 0;
    case POWER: return bits == 0xff;
    case COMPLEX:
        return tki_element_is_nan(TKI_ELEMENT_F32, (uint32_t)bits) || tki_element_is_nan(TKI_ELEMENT_F32, bits >> 32);
    default: return false;
    }
}

static double value_of(const row *r, uint64_t bits)
{
    if (r->kind == POWER)
        return ldexp(1, (int)bits - 127);
    const uint64_t magnitude = bits & magnitude_mask(r);
    const bool negative = bits >> (r->exponent + r->fraction) & 1;
    const int exponent = (int)(magnitude >> r->fraction);
    const uint64_t fraction = magnitude & (((uint64_t)1 << r->fraction) - 1);
    const int bias = (1 << (r->exponent - 1)) - (r->kind == NEGATIVE ? 0 : 1);
    double value;
    if (r->kind == IEEE && exponent == (1 << r->exponent) - 1)
        value = INFINITY;
    else if (exponent == 0)
        value = ldexp((double)fraction, 1 - bias - r->fraction);
    else
        value = ldexp((double)(fraction | (uint64_t)1 << r->fraction), exponent - bias - r->fraction);
    return negative ? -value : value;
}

/* Integers of fewer bits, with their sign. */
static int64_t extended(const row *r, uint64_t bits)
{
    const int unused = 64 - r->bits;
    return (int64_t)(bits << unused) >> unused;
}

void tki_element_text(tki_element_type type, uint64_t bits, char text[TKI_ELEMENT_TEXT])
{
    const row *r = &rows[type];
    const int digits = (r->bits + 3) / 4;
    const int precision = r->fraction > 23 ? 17 : 9;
    int length = snprintf(text, TKI_ELEMENT_TEXT, "0x%0*llx ", digits, (unsigned long long)bits);
    char *rest = text + length;
    const size_t left = TKI_ELEMENT_TEXT - (size_t)length;
    if (r->kind == COMPLEX)
        snprintf(rest, left, "(%.9g%+.9gi)", value_of(&rows[TKI_ELEMENT_F32], (uint32_t)bits),
                 value_of(&rows[TKI_ELEMENT_F32], bits >> 32));
    else if (r->kind == NATURAL)
        snprintf(rest, left, "(%llu)", (unsigned long long)bits);
    else if (r->kind == INTEGER)
        snprintf(rest, left, "(%lld)", (long long)extended(r, bits));
    else if (tki_element_is_nan(type, bits))
        snprintf(rest, left, "(NaN)");
    else
        snprintf(rest, left, "(%.*g)", precision, value_of(r, bits));
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

/* The place of a floating-point number among all of its type; both zeros have 0. */
static int64_t place(const row *r, uint64_t bits)
{
    const int64_t magnitude = (int64_t)(bits & magnitude_mask(r));
    if (r->kind == POWER)
        return magnitude;
    return bits >> (r->exponent + r->fraction) & 1 ? -magnitude : magnitude;
}

uint64_t tki_element_ulps(tki_element_type type, uint64_t a, uint64_t b)
{
    const row *r = &rows[type];
    if (r->kind == COMPLEX) {
        const uint64_t real = tki_element_ulps(TKI_ELEMENT_F32, (uint32_t)a, (uint32_t)b);
        const uint64_t imaginary = tki_element_ulps(TKI_ELEMENT_F32, a >> 32, b >> 32);
        return real > imaginary ? real : imaginary;
    }
    if (r->kind == NATURAL)
        return a < b ? b - a : a - b;
    if (r->kind == INTEGER)
        return distance(extended(r, a), extended(r, b));
    const bool nan_a = tki_element_is_nan(type, a), nan_b = tki_element_is_nan(type, b);
    if (nan_a || nan_b)
        return nan_a && nan_b ? 0 : UINT64_MAX;
    return distance(place(r, a), place(r, b));
}
