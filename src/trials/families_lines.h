/* CHOOSES. What the files of families share: a tensor as lines, numbers of its format, places. */
#pragma once

#include <math.h>

#include "core/random.h"
#include "exact/round.h"
#include "trials/families.h"

/* What an op does with its values. */
typedef enum tki_op_kind {
    TKI_COPIES = 1,
    TKI_ELEMENTWISE = 2,
    TKI_ADDS = 4,     /* sums of values or of products */
    TKI_ADDS_EXP = 8, /* sums of exponentials: an element that does not matter is very negative */
    TKI_SUMS = TKI_ADDS | TKI_ADDS_EXP,
    TKI_ANY_OP = TKI_COPIES | TKI_ELEMENTWISE | TKI_SUMS
} tki_op_kind;

/* A value tensor seen as lines: line l, place t is element l * line_stride + t * place_stride. */
typedef struct tki_lines {
    void *data;
    tk_dtype dtype;
    tki_format format; /* of dtype */
    tk_dtype result;   /* of what the op makes of it */
    int64_t count, length;
    int64_t line_stride, place_stride;
    tki_op_kind kind;
    bool low_background;
    bool summed;
    int factors; /* of each term of the sum: how many inputs are walked along it */
    /* The first value input carries the pattern of TKI_FAMILY_FEW, TKI_FAMILY_CANCEL, ...; the others pair with it. */
    bool first_input;
    bool last_input;
    int input;      /* which of the value inputs, from 0 */
    int64_t before; /* elements of the value inputs before it */
    uint64_t seed;  /* of the trial */
    uint64_t turn;  /* consecutive for consecutive numbers of trials */
} tki_lines;

static inline uint32_t tki_line_bits(const tki_lines *v, int64_t line, int64_t place)
{
    return tki_element_bits(v->dtype, v->data, line * v->line_stride + place * v->place_stride);
}

static inline void tki_line_put_bits(const tki_lines *v, int64_t line, int64_t place, uint32_t bits)
{
    tki_put_bits(v->dtype, v->data, line * v->line_stride + place * v->place_stride, bits);
}

static inline void tki_line_put(const tki_lines *v, int64_t line, int64_t place, double value)
{
    tki_line_put_bits(v, line, place, tki_round_in(v->format, value));
}

static inline double tki_largest_of(tk_dtype dtype)
{
    return tki_decode(dtype, tki_format_of(dtype).largest);
}

static inline double tki_smallest_normal_of(tk_dtype dtype)
{
    return ldexp(1, tki_format_of(dtype).exponent_min);
}

/* Of a number from 1 to 2. */
static inline double tki_last_place_of(tk_dtype dtype)
{
    return ldexp(1, 1 - tki_format_of(dtype).precision);
}

static inline int tki_exponent_max_of(tk_dtype dtype)
{
    return tki_format_exponent_max(tki_format_of(dtype));
}

static inline int tki_smaller(int a, int b)
{
    return a < b ? a : b;
}

/* What some families take of a format. */
typedef struct tki_scales {
    int64_t plateau_counts;      /* up to about here one over a count shows it */
    uint64_t truncation_steps;   /* so many odd significands lie below 1.75 */
    uint64_t far_depth;          /* from the smallest normal number up, in powers of two */
    int tie_partner, tie_factor; /* powers of two with half of the smallest subnormal number for their product */
    uint64_t tie_steps;
} tki_scales;

/* Those of fp16 and bf16 stand as they were chosen once, since certificates name what was drawn; the others follow
 * from the format. */
static inline tki_scales tki_scales_of(tk_dtype dtype)
{
    const tki_format f = tki_format_of(dtype);
    const int half = tki_format_exponent_lowest(f) - 1;
    const uint64_t significands = UINT64_C(1) << (f.precision - 1);
    switch (dtype) {
    case TK_F16: return (tki_scales){1500, 40, 8, -13, -12, 1000};
    case TK_BF16: return (tki_scales){180, 5, 66, -68, -66, 60};
    default:
        return (tki_scales){.plateau_counts = (int64_t)significands * 7 / 5,
                            .truncation_steps = significands / 24 + 1,
                            .far_depth = (uint64_t)(tki_format_exponent_max(f) + 1) / 2,
                            .tie_partner = half / 2,
                            .tie_factor = half - half / 2,
                            .tie_steps = significands / 2};
    }
}

/* The magnitude with a random sign. Draws that stand in one expression would come in an order that compilers choose;
 * here the magnitude's is over before the sign's. */
static inline double tki_with_sign(tki_random *random, double magnitude)
{
    return tki_random_u64(random) & 1 ? magnitude : -magnitude;
}

/* An element that contributes nothing: zero in a sum of products, far below the maximum in a softmax. */
static inline double tki_background(const tki_lines *v)
{
    return v->low_background ? -tki_largest_of(v->dtype) / 2 : 0.0;
}

/* A place at an end, beside a multiple of a chunk's usual sizes, or anywhere. */
static inline int64_t tki_any_place(int64_t length, tki_random *random)
{
    uint64_t kind = tki_random_below(random, 4);
    int64_t chunk = INT64_C(8) << tki_random_below(random, 10);
    int64_t shift = (int64_t)tki_random_below(random, 3) - 1;
    int64_t place = (int64_t)tki_random_below(random, (uint64_t)length);
    if (kind == 0)
        return shift < 0 ? 0 : length - 1;
    if (kind == 1 && chunk < length)
        place = chunk * (1 + place % ((length - 1) / chunk)) + shift;
    return place < length ? place : length - 1;
}

/* All bits that a pattern has. */
static inline uint32_t tki_any_pattern(tki_format f, tki_random *random)
{
    return (uint32_t)tki_random_u64(random) & (f.sign | (f.sign - 1));
}

void tki_fill_normal(const tki_lines *v, tki_random *random);
void tki_fill_patterns(const tki_lines *v, tki_random *random, bool finite);
void tki_fill_exact(const tki_lines *v, tki_random *random);

/* What is added to sums of products that are multiples of `unit`, such that they stay exact. */
void tki_fill_exact_terms(const tki_lines *v, double unit, tki_random *random);

/* Values of one family, if it is one of those that the file has: of any op, of those that add, of those that add
 * exponentials, of elements that belong together. */
bool tki_fill_values(tki_family family, const tki_lines *v, tki_random *random);
bool tki_fill_sums(tki_family family, const tki_lines *v, tki_random *random);
bool tki_fill_exp(tki_family family, const tki_lines *v, tki_random *random);
bool tki_fill_structure(tki_family family, const tki_lines *v, tki_random *random);

/* For an elementwise op that is linear in the first of its two inputs: for each second one a first one whose result
 * lies near a midpoint, as the oracle has it. Where there is none, since the second is special, the first stays as
 * it was drawn; so do some others unless `all` is set. */
void tki_choose_near_ties(const tk_case *c, void *const data[], int candidates, bool all, tki_random *random);

/* For an elementwise op of one input: of all patterns, or of many drawn ones, those whose results, as the oracle has
 * them, lie nearest to a midpoint. */
void tki_choose_nearest_ties(const tk_case *c, void *data, tki_random *random);
