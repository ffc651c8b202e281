/* DECIDES. The element formats, each written down once: whoever reads, writes, rounds, draws or names elements asks
 * here. Kernels' own conversions (core/dtype.h) share nothing with it. Inline, since the judge passes billions of
 * elements through what is built on it. */
#pragma once

#include "tokitai.h"

typedef enum tki_number { TKI_FLOATING, TKI_SIGNED, TKI_UNSIGNED } tki_number;

/* Of floating point: a pattern is a sign bit above a magnitude, whose patterns in increasing order are the numbers
 * in increasing order. */
typedef struct tki_format {
    const char *name;
    int bytes; /* of an element */
    tki_number number;
    /* Floating point. Of integers no pattern is NaN or infinite. */
    int precision;     /* p, significand bits with the hidden one */
    int exponent_min;  /* emin, of the smallest normal number */
    uint32_t sign;     /* the pattern of -0 */
    uint32_t largest;  /* the largest finite number */
    uint32_t infinity; /* 0: there is none, and NaN stands for what is too large */
    uint32_t nan;      /* the canonical one: positive, quiet, no payload */
} tki_format;

enum { TKI_FORMAT_COUNT = TK_U64 + 1 };

/* Folds into constants where `dtype` is one. */
static inline tki_format tki_format_of(tk_dtype dtype)
{
    /* clang-format off */ /* one row below the other */
    static const tki_format formats[TKI_FORMAT_COUNT] = {
        [TK_F16]  = {"f16",  2, TKI_FLOATING, 11,  -14, 0x8000,     0x7bff,     0x7c00,     0x7e00},
        [TK_BF16] = {"bf16", 2, TKI_FLOATING,  8, -126, 0x8000,     0x7f7f,     0x7f80,     0x7fc0},
        [TK_F32]  = {"f32",  4, TKI_FLOATING, 24, -126, 0x80000000, 0x7f7fffff, 0x7f800000, 0x7fc00000},
        [TK_I32]  = {"i32",  4, TKI_SIGNED,    0,    0, 0, UINT32_MAX, 0, 0},
        [TK_I64]  = {"i64",  8, TKI_SIGNED,    0,    0, 0, UINT32_MAX, 0, 0},
        [TK_U64]  = {"u64",  8, TKI_UNSIGNED,  0,    0, 0, UINT32_MAX, 0, 0},
    };
    /* clang-format on */
    return formats[dtype];
}

/* A value from outside may be none of them. */
static inline bool tki_is_format(tk_dtype dtype)
{
    return (unsigned)dtype < TKI_FORMAT_COUNT;
}

static inline int tki_format_bits(tk_dtype dtype)
{
    return 8 * tki_format_of(dtype).bytes;
}

/* All bits set. */
static inline int64_t tki_last_pattern(tk_dtype dtype)
{
    return (int64_t)(UINT64_MAX >> (64 - tki_format_bits(dtype)));
}

/* emax, of the largest finite number. */
static inline int tki_format_exponent_max(tki_format f)
{
    return f.exponent_min + (int)(f.largest >> (f.precision - 1)) - 1;
}

/* That of the smallest subnormal number. */
static inline int tki_format_exponent_lowest(tki_format f)
{
    return f.exponent_min - f.precision + 1;
}
