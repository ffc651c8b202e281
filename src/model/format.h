/* DECIDES. The element formats, each written down once, for judge, kernels and files: whoever reads, writes, rounds, draws or
 * names elements asks here. Kernels' own conversions (core/dtype.h) share nothing with it. Inline, since the judge passes billions
 * of elements through what is built on it. */
#pragma once

#include "tokitai.h"

/* The formats of files follow those of tk_dtype, so that one table serves both; a type that is new there and not counted here takes the row of a
 * format of files, which compilers refuse. */
enum { TKI_DTYPE_COUNT = TK_U8 + 1 };
#define TKI_F4 ((tk_dtype)TKI_DTYPE_COUNT)
#define TKI_F6_E2M3 ((tk_dtype)(TKI_DTYPE_COUNT + 1))
#define TKI_F6_E3M2 ((tk_dtype)(TKI_DTYPE_COUNT + 2))
#define TKI_F8_E4M3FNUZ ((tk_dtype)(TKI_DTYPE_COUNT + 3))
#define TKI_F8_E5M2FNUZ ((tk_dtype)(TKI_DTYPE_COUNT + 4))
#define TKI_F8_E8M0 ((tk_dtype)(TKI_DTYPE_COUNT + 5))
#define TKI_F64 ((tk_dtype)(TKI_DTYPE_COUNT + 6))
#define TKI_I8 ((tk_dtype)(TKI_DTYPE_COUNT + 7))
#define TKI_I16 ((tk_dtype)(TKI_DTYPE_COUNT + 8))
#define TKI_U16 ((tk_dtype)(TKI_DTYPE_COUNT + 9))
#define TKI_U32 ((tk_dtype)(TKI_DTYPE_COUNT + 10))
#define TKI_C64 ((tk_dtype)(TKI_DTYPE_COUNT + 11))
enum { TKI_FORMAT_COUNT = TKI_C64 + 1 };

typedef enum tki_number { TKI_FLOATING, TKI_SIGNED, TKI_UNSIGNED, TKI_COMPLEX } tki_number;

/* Of floating point: a pattern is a sign bit above a magnitude, whose patterns in increasing order are the numbers
 * in increasing order. */
typedef struct tki_format {
    const char *name;
    const char *file_name; /* in safetensors */
    int bits;              /* of an element: whole bytes, but for some formats of files */
    tki_number number;
    /* Floating point of at most 32 bits. Of integers no pattern is NaN or infinite. */
    int precision;     /* p, significand bits with the hidden one */
    int exponent_min;  /* emin, of the smallest normal number */
    uint32_t sign;     /* the pattern of -0; 0: no number is negative */
    uint32_t largest;  /* the largest finite number */
    uint32_t infinity; /* 0: there is none, and NaN stands for what is too large */
    uint32_t nan;      /* the canonical one: positive, quiet, no payload; or the pattern of -0; 0: there is none */
} tki_format;

/* Folds into constants where `dtype` is one. */
static inline tki_format tki_format_of(tk_dtype dtype)
{
    /* clang-format off */ /* one row below the other */
    static const tki_format formats[TKI_FORMAT_COUNT] = {
        [TK_F16]          = {"f16",         "F16",        16, TKI_FLOATING, 11,   -14, 0x8000, 0x7bff, 0x7c00, 0x7e00},
        [TK_BF16]         = {"bf16",        "BF16",       16, TKI_FLOATING,  8,  -126, 0x8000, 0x7f7f, 0x7f80, 0x7fc0},
        [TK_F32]          = {"f32",         "F32",        32, TKI_FLOATING, 24,  -126, 0x80000000, 0x7f7fffff, 0x7f800000, 0x7fc00000},
        [TK_I32]          = {"i32",         "I32",        32, TKI_SIGNED,    0,     0, 0, UINT32_MAX, 0, 0},
        [TK_I64]          = {"i64",         "I64",        64, TKI_SIGNED,    0,     0, 0, UINT32_MAX, 0, 0},
        [TK_U64]          = {"u64",         "U64",        64, TKI_UNSIGNED,  0,     0, 0, UINT32_MAX, 0, 0},
        [TK_F8_E4M3]      = {"f8_e4m3",     "F8_E4M3",     8, TKI_FLOATING,  4,    -6, 0x80, 0x7e, 0, 0x7f},
        [TK_F8_E5M2]      = {"f8_e5m2",     "F8_E5M2",     8, TKI_FLOATING,  3,   -14, 0x80, 0x7b, 0x7c, 0x7e},
        [TK_BOOL]         = {"bool",        "BOOL",        8, TKI_UNSIGNED,  0,     0, 0, 1, 0, 0},
        [TK_U8]           = {"u8",          "U8",          8, TKI_UNSIGNED,  0,     0, 0, UINT32_MAX, 0, 0},
        [TKI_F4]          = {"f4",          "F4",          4, TKI_FLOATING,  2,     0, 0x8, 0x7, 0, 0},
        [TKI_F6_E2M3]     = {"f6_e2m3",     "F6_E2M3",     6, TKI_FLOATING,  4,     0, 0x20, 0x1f, 0, 0},
        [TKI_F6_E3M2]     = {"f6_e3m2",     "F6_E3M2",     6, TKI_FLOATING,  3,    -2, 0x20, 0x1f, 0, 0},
        [TKI_F8_E4M3FNUZ] = {"f8_e4m3fnuz", "F8_E4M3FNUZ", 8, TKI_FLOATING,  4,    -7, 0x80, 0x7f, 0, 0x80},
        [TKI_F8_E5M2FNUZ] = {"f8_e5m2fnuz", "F8_E5M2FNUZ", 8, TKI_FLOATING,  3,   -15, 0x80, 0x7f, 0, 0x80},
        [TKI_F8_E8M0]     = {"f8_e8m0",     "F8_E8M0",     8, TKI_FLOATING,  1,  -126, 0, 0xfe, 0, 0xff},
        [TKI_F64]         = {"f64",         "F64",        64, TKI_FLOATING, 53, -1022, 0, 0, 0, 0},
        [TKI_I8]          = {"i8",          "I8",          8, TKI_SIGNED,    0,     0, 0, UINT32_MAX, 0, 0},
        [TKI_I16]         = {"i16",         "I16",        16, TKI_SIGNED,    0,     0, 0, UINT32_MAX, 0, 0},
        [TKI_U16]         = {"u16",         "U16",        16, TKI_UNSIGNED,  0,     0, 0, UINT32_MAX, 0, 0},
        [TKI_U32]         = {"u32",         "U32",        32, TKI_UNSIGNED,  0,     0, 0, UINT32_MAX, 0, 0},
        [TKI_C64]         = {"c64",         "C64",        64, TKI_COMPLEX,   0,     0, 0, UINT32_MAX, 0, 0},
    };
    /* clang-format on */
    return formats[dtype];
}

/* A type of tensors of an op? A value from outside may be none. */
static inline bool tki_is_dtype(tk_dtype dtype)
{
    return (unsigned)dtype < TKI_DTYPE_COUNT;
}

static inline int tki_format_bytes(tki_format f)
{
    return f.bits / 8;
}

/* All bits set. */
static inline int64_t tki_last_pattern(tk_dtype dtype)
{
    return (int64_t)(UINT64_MAX >> (64 - tki_format_of(dtype).bits));
}

/* Of inputs: a bool is a byte, and 0 or 1. */
static inline int tki_pattern_bits(tk_dtype dtype)
{
    return dtype == TK_BOOL ? 1 : tki_format_of(dtype).bits;
}

/* Formats so small that what is too large for them may become the largest number, on request. */
static inline bool tki_may_saturate(tk_dtype dtype)
{
    return tki_format_of(dtype).number == TKI_FLOATING && tki_format_of(dtype).bits == 8;
}

/* So few patterns that a table can have an entry for each. */
static inline bool tki_is_tabled(tk_dtype dtype)
{
    return tki_format_of(dtype).bits <= 16;
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

/* -- What bounds rest on ------------------------------------------------------------------------------------------- */

/* A product of two elements has at most 2 p bits; fp32 holds it but for its range. */
static inline bool tki_products_fit_fp32(tk_dtype dtype)
{
    return 2 * tki_format_of(dtype).precision <= 24;
}

/* Do the blocks by which bounds for matrix units are derived describe those for such elements? fp32 is truncated before it is multiplied, and sums of
 * products of 8 bits are kept with fewer bits than fp32 has. */
static inline bool tki_has_matrix_unit_bounds(tk_dtype dtype)
{
    return tki_format_of(dtype).number == TKI_FLOATING && tki_format_of(dtype).bits == 16;
}

/* Does it hold every number of fp32, so that a store of one rounds nothing? */
static inline bool tki_holds_fp32(tk_dtype dtype)
{
    const tki_format f = tki_format_of(dtype);
    return f.number == TKI_FLOATING && f.precision >= 24 && f.exponent_min <= -126;
}

/* Is some product of two elements no multiple of fp32's smallest number? */
static inline bool tki_products_underflow(tk_dtype dtype)
{
    return 2 * tki_format_exponent_lowest(tki_format_of(dtype)) < -149;
}

/* Can products of two elements, or sums of them, be beyond fp32's largest number? */
static inline bool tki_products_overflow(tk_dtype dtype)
{
    return 2 * (tki_format_exponent_max(tki_format_of(dtype)) + 1) >= 128;
}
