/* RECORDS. Elements of tensors in files. */
#include "tensors/element.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exact/round.h"

bool tki_element_find(const char *name, tk_dtype *type)
{
    for (*type = 0; (int)*type < TKI_FORMAT_COUNT; (*type)++)
        if (!strcmp(name, tki_format_of(*type).file_name))
            return true;
    return false;
}

uint64_t tki_element_at(tk_dtype type, const void *data, int64_t index)
{
    const unsigned char *bytes = data;
    const int bits = tki_format_of(type).bits;
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

/* The pattern of -0; E8M0 alone has no sign. */
static uint64_t sign_of(tk_dtype type)
{
    return type == TKI_F8_E8M0 ? 0 : UINT64_C(1) << (tki_format_of(type).bits - 1);
}

static double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool tki_element_is_nan(tk_dtype type, uint64_t bits)
{
    const tki_format f = tki_format_of(type);
    if (type == TKI_C64)
        return tki_element_is_nan(TK_F32, (uint32_t)bits) || tki_element_is_nan(TK_F32, bits >> 32);
    if (type == TKI_F64)
        return isnan(f64_of(bits));
    /* Where -0 is the NaN, it is the only one. */
    return f.number == TKI_FLOATING && (f.nan && f.nan == f.sign ? bits == f.nan : tki_is_nan(type, (uint32_t)bits));
}

static double value_of(tk_dtype type, uint64_t bits)
{
    if (type == TKI_F8_E8M0)
        return ldexp(1, (int)bits - 127);
    return type == TKI_F64 ? f64_of(bits) : tki_decode(type, (uint32_t)bits);
}

/* Integers of fewer bits, with their sign. */
static int64_t extended(tk_dtype type, uint64_t bits)
{
    const int unused = 64 - tki_format_of(type).bits;
    return (int64_t)(bits << unused) >> unused;
}

void tki_element_text(tk_dtype type, uint64_t bits, char text[TKI_ELEMENT_TEXT])
{
    const tki_format f = tki_format_of(type);
    int length = snprintf(text, TKI_ELEMENT_TEXT, "0x%0*llx ", (f.bits + 3) / 4, (unsigned long long)bits);
    char *rest = text + length;
    const size_t left = TKI_ELEMENT_TEXT - (size_t)length;
    if (f.number == TKI_COMPLEX)
        snprintf(rest, left, "(%.9g%+.9gi)", value_of(TK_F32, (uint32_t)bits), value_of(TK_F32, bits >> 32));
    else if (f.number == TKI_UNSIGNED)
        snprintf(rest, left, "(%llu)", (unsigned long long)bits);
    else if (f.number == TKI_SIGNED)
        snprintf(rest, left, "(%lld)", (long long)extended(type, bits));
    else if (tki_element_is_nan(type, bits))
        snprintf(rest, left, "(NaN)");
    else
        snprintf(rest, left, "(%.*g)", f.precision > 24 ? 17 : 9, value_of(type, bits));
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

/* The place of a floating-point number among all of its type; both zeros have 0. */
static int64_t place(tk_dtype type, uint64_t bits)
{
    const uint64_t sign = sign_of(type);
    return bits & sign ? -(int64_t)(bits - sign) : (int64_t)bits;
}

uint64_t tki_element_ulps(tk_dtype type, uint64_t a, uint64_t b)
{
    switch (tki_format_of(type).number) {
    case TKI_COMPLEX: {
        const uint64_t real = tki_element_ulps(TK_F32, (uint32_t)a, (uint32_t)b);
        const uint64_t imaginary = tki_element_ulps(TK_F32, a >> 32, b >> 32);
        return real > imaginary ? real : imaginary;
    }
    case TKI_UNSIGNED: return a < b ? b - a : a - b;
    case TKI_SIGNED: return distance(extended(type, a), extended(type, b));
    case TKI_FLOATING: break;
    }
    const bool nan_a = tki_element_is_nan(type, a), nan_b = tki_element_is_nan(type, b);
    if (nan_a || nan_b)
        return nan_a && nan_b ? 0 : UINT64_MAX;
    return distance(place(type, a), place(type, b));
}
