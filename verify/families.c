/* TRUSTED. Input families. Values are drawn as doubles and rounded to the case's dtype, or drawn as patterns; a tensor is
 * walked as lines along the axis that the op sums over, since that is where mistakes add up. Indices: families_index.c. */
#include "verify/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "exact/floats.h"
#include "exact/round.h"
#include "verify/families_index.h"
#include "verify/registry.h"

/* What an op does with its values. */
typedef enum op_kind {
    COPIES = 1,
    ELEMENTWISE = 2,
    ADDS = 4,     /* sums of values or of products */
    ADDS_EXP = 8, /* sums of exponentials: an element that does not matter is very negative */
    SUMS = ADDS | ADDS_EXP,
    ANY = COPIES | ELEMENTWISE | SUMS
} op_kind;

static const struct {
    const char *name, *what;
    int kinds; /* of ops that it is for */
    bool needs_index;
} families[TKI_FAMILY_COUNT] = {
    [TKI_FAMILY_NORMAL] = {"normal", "normal, variance 1", ANY, false},
    [TKI_FAMILY_FINITE_BITS] = {"finite_bits", "every finite pattern equally likely", ANY, false},
    [TKI_FAMILY_BITS] = {"bits", "every pattern equally likely, NaN and infinity included", ANY, false},
    [TKI_FAMILY_SPECIAL] = {"special", "normal, with NaN, infinities and zeros of both signs among them", ANY, false},
    [TKI_FAMILY_SUBNORMAL] = {"subnormal", "subnormal and smallest normal numbers", ANY, false},
    [TKI_FAMILY_HUGE_VALUES] = {"huge", "numbers near the largest finite one", ANY, false},
    [TKI_FAMILY_CANCEL] = {"cancel", "terms that cancel in pairs, leaving a small rest", SUMS, false},
    [TKI_FAMILY_SWAMP] = {"swamp", "one huge term among many small ones", SUMS, false},
    [TKI_FAMILY_FEW] = {"few", "1, 2, 8 or 16 terms that matter, strides 1, 16, 256, up to either end or anywhere",
                        SUMS, false},
    [TKI_FAMILY_MIDPOINT] = {"midpoint", "sums at and right beside rounding midpoints", SUMS, false},
    [TKI_FAMILY_MIXED_EXPONENTS] = {"mixed", "exponents so mixed that every order of summation gives other bits",
                                    SUMS, false},
    [TKI_FAMILY_EQUAL] = {"equal", "all elements the same", ANY, false},
    [TKI_FAMILY_ONE_HOT] = {"one_hot", "one element that matters in each line", SUMS, false},
    [TKI_FAMILY_SORTED] = {"sorted", "ascending along each line", SUMS, false},
    [TKI_FAMILY_ALTERNATING] = {"alternating", "signs alternate", ANY, false},
    [TKI_FAMILY_CONSTANT_ROWS] = {"constant_rows", "each line constant, lines differ", SUMS, false},
    [TKI_FAMILY_MINUS_INF] = {"minus_inf", "lines of -inf only, and lines with some -inf", SUMS, false},
    [TKI_FAMILY_CONFIDENT] = {"confident", "one element of each line far above the others", SUMS, false},
    [TKI_FAMILY_INDEX_ZIPF] = {"zipf", "normal values, Zipf-distributed indices", ANY, true},
    [TKI_FAMILY_INDEX_EQUAL] = {"same_index", "normal values, all indices equal", ANY, true},
    [TKI_FAMILY_INDEX_SORTED] = {"sorted_index", "normal values, ascending indices", ANY, true},
    [TKI_FAMILY_INDEX_EACH_ONCE] = {"each_once", "normal values, each index at most once while they last", ANY, true},
    [TKI_FAMILY_INDEX_ENDS] = {"ends", "normal values, first and last index only", ANY, true},
    [TKI_FAMILY_ZERO_INF] = {"zero_inf", "zeros of one input against infinities of the other", SUMS, false},
    [TKI_FAMILY_EXACT] = {"exact", "dense sums that fp32 adds without rounding, in any order", ADDS, false},
    [TKI_FAMILY_PLATEAU] = {"plateau", "some elements equal and highest, anywhere, the others too far below to count",
                            ADDS_EXP, false},
    [TKI_FAMILY_OFFSET] = {"offset", "lines with a common offset of 1 to 300, some of far more, up or down", ADDS_EXP,
                           false},
    [TKI_FAMILY_LOG_UNIFORM] = {"log_uniform", "magnitudes of many orders, both signs", ELEMENTWISE | SUMS, false},
    [TKI_FAMILY_THRESHOLDS] = {"thresholds", "numbers at which code often branches, and their neighbours",
                               ELEMENTWISE | ADDS_EXP, false},
    [TKI_FAMILY_NEAR_TIE] = {"near_tie", "results a hair beside a rounding midpoint", ELEMENTWISE | ADDS, false},
    [TKI_FAMILY_ONE_SPECIAL] = {"one_special",
                                "one NaN, infinity or zero in a line, at its ends, at a chunk's edge or anywhere",
                                ELEMENTWISE | SUMS, false},
    [TKI_FAMILY_SMALL_AMONG] = {"small_among", "subnormal numbers and zeros of both signs among normal numbers",
                                ELEMENTWISE | SUMS, false},
    [TKI_FAMILY_PEAKS] = {"peaks", "the maximum at an end, at a chunk's edge or several times; descending lines",
                          ADDS_EXP, false},
    [TKI_FAMILY_EACH_PATTERN] =
        {"each_pattern", "every pattern once in 65536 elements, of 32 bits every upper half, against drawn partners",
         ELEMENTWISE, false},
    [TKI_FAMILY_INDEX_RUNS] = {"index_runs", "runs of one index, many of 63 to 65, 127 to 129 or 255 to 257", ANY,
                               true},
    [TKI_FAMILY_INDEX_TWO] = {"two_indices", "two indices in turn, 256 or 2^16 apart where the table allows", ANY,
                              true},
    [TKI_FAMILY_INDEX_PERMUTED] = {"permuted", "each index at most once while they last, in no order", ANY, true},
    [TKI_FAMILY_INDEX_LAST] = {"last_indices", "only the last eight indices", ANY, true},
    [TKI_FAMILY_INDEX_COUNTS] = {"counted", "1 to 3, 63 to 65, 127 to 129 or 255 to 257 hits of an index, far apart",
                                 ANY, true},
    [TKI_FAMILY_ZEROS] = {"zeros", "lines of zeros of either sign, alone or with one other number", ANY, false},
    [TKI_FAMILY_TRUNCATION] = {"truncation",
                               "sums of two products that rounding and truncation put on two sides of a tie", ADDS,
                               false},
    [TKI_FAMILY_ONE_SIGN] = {"one_sign", "one sign and nearly one magnitude, so that sums grow as far as they can",
                             ADDS, false},
    [TKI_FAMILY_FAR_APART] = {"far_apart", "an input of tiny numbers against one of huge ones", ADDS, false},
    [TKI_FAMILY_ZERO_NAN] = {"zero_nan", "many zeros in one input, one NaN in some lines of the other", SUMS, false},
    [TKI_FAMILY_SMALL_TIES] = {"small_ties", "results half way between two subnormal numbers", ADDS, false},
    [TKI_FAMILY_SPECIAL_PARTNERS] = {"special_partners",
                                     "every pattern against NaN, infinities, zeros and the largest numbers",
                                     ELEMENTWISE, false},
    [TKI_FAMILY_CROWD] = {"crowd", "one peak, and others so far below that they count by their number alone",
                          ADDS_EXP, false},
    [TKI_FAMILY_TAIL] = {"tail", "terms that matter within the last 64 places of a line", SUMS, false},
    [TKI_FAMILY_ORDER] = {"order",
                          "huge terms that cancel among small ones: each order of summation loses other digits", ADDS,
                          false},
    [TKI_FAMILY_SCALED_LINES] = {"scaled_lines", "each line of a magnitude of its own", ADDS, false},
    [TKI_FAMILY_NEAREST_TIES] = {"nearest_ties",
                                 "the results nearest to rounding midpoints: two good approximations differ there",
                                 ELEMENTWISE, false},
    [TKI_FAMILY_INDEX_HIGH] = {"high_indices", "indices around 2^7, 2^8, 2^15, 2^16, ... as far as the table goes",
                               ANY, true},
};

const char *tk_family_at(int i, const char **what)
{
    if (i < 0 || i >= TKI_FAMILY_COUNT)
        return NULL;
    if (what)
        *what = families[i].what;
    return families[i].name;
}

int tki_family_find(const char *name)
{
    for (int i = 0; i < TKI_FAMILY_COUNT; i++)
        if (!strcmp(families[i].name, name))
            return i;
    return -1;
}

static op_kind kind_of(const tk_contract *contract)
{
    bool adds = false;
    bool adds_exp = false;
    for (int p = 0; p < contract->param_count; p++) {
        adds |= contract->params[p].inner_axis >= 0;
        adds_exp |= contract->params[p].low_background;
    }
    return adds_exp ? ADDS_EXP : adds ? ADDS : tk_contract_takes_index(contract) ? COPIES : ELEMENTWISE;
}

bool tk_family_applies(int family, const tk_contract *contract)
{
    return family >= 0 && family < TKI_FAMILY_COUNT &&
           (!families[family].needs_index || tk_contract_takes_index(contract)) &&
           (families[family].kinds & (int)kind_of(contract)) != 0;
}

int tki_family_main(const tk_contract *contract, int turn)
{
    static const int of_copies[] = {TKI_FAMILY_BITS, TKI_FAMILY_INDEX_PERMUTED, TKI_FAMILY_INDEX_HIGH};
    static const int of_elements[] = {TKI_FAMILY_NORMAL, TKI_FAMILY_EACH_PATTERN};
    static const int of_scattered[] = {TKI_FAMILY_EXACT, TKI_FAMILY_INDEX_COUNTS, TKI_FAMILY_INDEX_RUNS,
                                       TKI_FAMILY_INDEX_PERMUTED};
    static const int of_exp[] = {TKI_FAMILY_PLATEAU, TKI_FAMILY_NORMAL};
    static const int of_targets[] = {TKI_FAMILY_PLATEAU, TKI_FAMILY_NORMAL, TKI_FAMILY_PLATEAU, TKI_FAMILY_CONFIDENT};
    switch (kind_of(contract)) {
    case COPIES: return of_copies[turn % 3];
    case ELEMENTWISE: return of_elements[turn % 2];
    case ADDS_EXP: return tk_contract_takes_index(contract) ? of_targets[turn % 4] : of_exp[turn % 2];
    default: return tk_contract_takes_index(contract) ? of_scattered[turn % 4] : TKI_FAMILY_EXACT;
    }
}

int tki_family_telling(const tk_contract *contract, int i)
{
    static const int of_sums[] = {TKI_FAMILY_TAIL, TKI_FAMILY_ORDER};
    static const int of_exp[] = {TKI_FAMILY_TAIL, TKI_FAMILY_CROWD};
    const op_kind kind = kind_of(contract);
    if (i < 0 || i > 1 || !(kind & SUMS))
        return -1;
    return kind == ADDS ? of_sums[i] : of_exp[i];
}

/* A value tensor seen as lines: line l, place t is element l * line_stride + t * place_stride. */
typedef struct lines {
    void *data;
    tk_dtype dtype;
    tki_format format; /* of dtype */
    tk_dtype result;   /* of what the op makes of it */
    int64_t count, length;
    int64_t line_stride, place_stride;
    op_kind kind;
    bool low_background;
    bool summed;
    int factors; /* of each term of the sum: how many inputs are walked along it */
    bool
        first_input; /* the first value input carries the pattern of TKI_FAMILY_FEW, TKI_FAMILY_CANCEL, ...; the others pair with it */
    bool last_input;
} lines;

static uint32_t get(const lines *v, int64_t line, int64_t place)
{
    return tki_element_bits(v->dtype, v->data, line * v->line_stride + place * v->place_stride);
}

static void put_bits(const lines *v, int64_t line, int64_t place, uint32_t bits)
{
    tki_put_bits(v->dtype, v->data, line * v->line_stride + place * v->place_stride, bits);
}

static void put(const lines *v, int64_t line, int64_t place, double value)
{
    put_bits(v, line, place, tki_round_double(v->dtype, value));
}

static double largest(tk_dtype dtype)
{
    return tki_decode(dtype, tki_format_of(dtype).largest);
}

static double smallest_normal(tk_dtype dtype)
{
    return ldexp(1, tki_format_of(dtype).exponent_min);
}

/* Of a number from 1 to 2. */
static double last_place(tk_dtype dtype)
{
    return ldexp(1, 1 - tki_format_of(dtype).precision);
}

static int exponent_max(tk_dtype dtype)
{
    return tki_format_exponent_max(tki_format_of(dtype));
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* What some families take of a format. */
typedef struct scales {
    int64_t plateau_counts;      /* up to about here one over a count shows it */
    uint64_t truncation_steps;   /* so many odd significands lie below 1.75 */
    uint64_t far_depth;          /* from the smallest normal number up, in powers of two */
    int tie_partner, tie_factor; /* powers of two with half of the smallest subnormal number for their product */
    uint64_t tie_steps;
} scales;

/* Those of fp16 and bf16 stand as they were chosen once, since certificates name what was drawn; the others follow from the format. */
static scales scales_of(tk_dtype dtype)
{
    const tki_format f = tki_format_of(dtype);
    const int half = tki_format_exponent_lowest(f) - 1;
    const uint64_t significands = UINT64_C(1) << (f.precision - 1);
    switch (dtype) {
    case TK_F16: return (scales){1500, 40, 8, -13, -12, 1000};
    case TK_BF16: return (scales){180, 5, 66, -68, -66, 60};
    default:
        return (scales){.plateau_counts = (int64_t)significands * 7 / 5,
                        .truncation_steps = significands / 24 + 1,
                        .far_depth = (uint64_t)(tki_format_exponent_max(f) + 1) / 2,
                        .tie_partner = half / 2,
                        .tie_factor = half - half / 2,
                        .tie_steps = significands / 2};
    }
}

/* The magnitude with a random sign. Draws that stand in one expression would come in an order that compilers choose; here the
 * magnitude's is over before the sign's. */
static double with_sign(tki_random *random, double magnitude)
{
    return tki_random_u64(random) & 1 ? magnitude : -magnitude;
}

/* An element that contributes nothing: zero in a sum of products, far below the maximum in a softmax. */
static double background(const lines *v)
{
    return v->low_background ? -largest(v->dtype) / 2 : 0.0;
}

/* A place at an end, beside a multiple of a chunk's usual sizes, or anywhere. */
static int64_t any_place(int64_t length, tki_random *random)
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
static uint32_t any_pattern(tki_format f, tki_random *random)
{
    return (uint32_t)tki_random_u64(random) & (f.sign | (f.sign - 1));
}

static uint32_t finite_pattern(const lines *v, tki_random *random)
{
    uint32_t bits;
    do
        bits = any_pattern(v->format, random);
    while (!tki_is_finite(v->dtype, bits));
    return bits;
}

/* In blocks side by side: of a large tensor the drawing would take longer than the judging. What is drawn does not depend on that. */
static void fill_normal(const lines *v, tki_random *random)
{
    enum { BLOCK = 1 << 14 };
    const int64_t elements = v->count * v->length;
#pragma omp parallel if (elements > BLOCK)
    {
        const tki_floats floats = tki_floats_begin();
#pragma omp for
        for (int64_t begin = 0; begin < elements; begin += BLOCK) {
            tki_random here = *random;
            tki_random_skip(&here, (uint64_t)begin * TKI_RANDOM_NORMAL_DRAWS);
            for (int64_t i = begin; i < elements && i < begin + BLOCK; i++)
                put(v, i / v->length, i % v->length, tki_random_normal(&here) * (v->low_background ? 3 : 1));
        }
        tki_floats_end(&floats);
    }
    tki_random_skip(random, (uint64_t)elements * TKI_RANDOM_NORMAL_DRAWS);
}

static void fill_patterns(const lines *v, tki_random *random, bool finite)
{
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            put_bits(v, l, t, finite ? finite_pattern(v, random) : any_pattern(v->format, random));
}

static void fill_special(const lines *v, tki_random *random)
{
    const uint32_t infinity = tki_round_double(v->dtype, INFINITY), sign = v->format.sign;
    /* A signalling and a quiet NaN, one with a payload in its lowest bit, both infinities, both zeros. */
    const uint32_t special[] = {infinity | 1, v->format.nan, infinity, infinity | sign, 0, sign, infinity | sign | 1};
    fill_normal(v, random);
    for (int64_t l = 0; !v->summed && l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            if (tki_random_u64(random) % 4 == 0)
                put_bits(v, l, t, special[tki_random_below(random, 7)]);
    for (int64_t l = 0; v->summed && l < v->count && v->length > 0; l++) {
        /* Often a single kind, so that one infinity meets no NaN in its line; sometimes nothing but both infinities. A long
         * line gets more, since an op that sums over a part of it should meet several. */
        uint64_t kinds = tki_random_below(random, 4);
        size_t kind = (size_t)tki_random_below(random, 7);
        for (int64_t i = 0; kinds > 0 && i < 3 + v->length / 16; i++) {
            if (kinds > 1)
                kind = kinds == 2 ? (size_t)tki_random_below(random, 7) : 2 + (size_t)tki_random_below(random, 2);
            put_bits(v, l, (int64_t)tki_random_below(random, (uint64_t)v->length), special[kind]);
        }
    }
}

static void fill_subnormal(const lines *v, tki_random *random)
{
    const double normal = smallest_normal(v->dtype);
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double value = with_sign(random, tki_random_unit(random) * normal * 1.25);
            /* The second tensor of a product stays moderate, or every product of bf16 would vanish. */
            put(v, l, t, v->first_input ? value : value / normal);
        }
}

static void fill_huge(const lines *v, tki_random *random)
{
    const double half_a_unit = ldexp(1, v->format.precision > 11 ? -v->format.precision : -8);
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double value = with_sign(random, 0.5 + tki_random_unit(random) / 2);
            /* The largest number itself and half a unit of it and more: sums that just pass the end of the format. */
            uint64_t kind = v->summed && v->first_input ? tki_random_below(random, 4) : 3;
            value = kind == 0 ? copysign(1, value) : kind == 1 ? value * half_a_unit : value;
            bool big = v->first_input || (tki_random_u64(random) & 7) == 0;
            put(v, l, t, big ? value * largest(v->dtype) : value);
        }
}

/* Pairs (w, -w) against equal partners cancel; the rest is what an exact sum is left with. */
static void fill_cancel(const lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t += 2) {
            double value = tki_random_normal(random) * 100;
            put(v, l, t, value);
            if (t + 1 < v->length)
                put(v, l, t + 1, v->first_input && !v->low_background ? -value : value);
            if ((tki_random_u64(random) & 15) == 0)
                put(v, l, t, tki_random_normal(random) * 0x1p-6);
        }
}

static void fill_swamp(const lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, (1 + tki_random_unit(random)) * (v->first_input ? 0x1p-6 : 1));
        if (v->length > 0 && v->first_input) {
            int64_t place = l & 1 ? 0 : (int64_t)tki_random_below(random, (uint64_t)v->length);
            put(v, l, place, with_sign(random, v->low_background ? 4 : 1024));
        }
    }
}

/* The counts and strides in turn, twelve of them, and each with the terms up to the last place, from the first one on, up to any place,
 * and everywhere. */
static void fill_few(const lines *v, tki_random *random)
{
    static const int64_t counts[] = {1, 2, 8, 16};
    static const int64_t strides[] = {1, 16, 256};
    fill_normal(v, random);
    if (!v->first_input || v->length == 0)
        return;
    uint64_t offset = tki_random_below(random, 48);
    for (int64_t l = 0; l < v->count; l++) {
        uint64_t combination = ((uint64_t)l + offset) % 12;
        uint64_t where = ((uint64_t)l + offset) / 12 % 4;
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, background(v));
        int64_t left = counts[combination % 4];
        int64_t stride = where == 1 ? strides[combination / 4] : -strides[combination / 4];
        int64_t t = where == 0 ? v->length - 1 : where == 1 ? 0 : any_place(v->length, random);
        for (; t >= 0 && t < v->length && left > 0; left--) {
            put(v, l, t, tki_random_normal(random) * 2);
            t = where == 3 ? any_place(v->length, random) : t + stride;
        }
    }
}

/* Against partners of 1: a value with the last bit set or clear, half a unit in the result's last place, and sometimes the
 * smallest nudge to either side. */
static void fill_midpoint(const lines *v, tki_random *random)
{
    const double own_place = last_place(v->dtype), place = last_place(v->result);
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            if (!v->first_input || v->low_background) {
                put(v, l, t, 1);
                continue;
            }
            double value = 0;
            if (t == 0)
                value = 1 + own_place * (double)tki_random_below(random, 64);
            else if (t == 1)
                value = place / 2;
            else if (t == v->length - 1)
                value = (double)((int64_t)tki_random_below(random, 3) - 1) * place * place;
            put(v, l, t, value);
        }
}

/* Large terms of one size and alternating signs among small ones of mixed exponents. The large ones cancel, and what is left
 * shows what the small ones lost on the way: other orders lose other parts. */
static void fill_mixed_line(const lines *v, int64_t l, tki_random *random)
{
    double large = ldexp(1, smaller(exponent_max(v->dtype) - 2, 18));
    for (int64_t t = 0; t < v->length; t++) {
        bool closing = t == v->length - 1 && large < 0;
        if (closing || (t < v->length - 1 && tki_random_u64(random) % 4 == 0)) {
            put(v, l, t, large);
            large = -large;
            continue;
        }
        int exponent = (int)tki_random_below(random, 16) - 12;
        put(v, l, t, with_sign(random, ldexp(1 + tki_random_unit(random), exponent)));
    }
}

static void fill_mixed(const lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        if (v->first_input && !v->low_background) {
            fill_mixed_line(v, l, random);
            continue;
        }
        for (int64_t t = 0; t < v->length; t++) {
            int exponent = (int)tki_random_below(random, 24) - 12;
            exponent = v->low_background ? exponent / 4 : exponent;
            put(v, l, t, with_sign(random, ldexp(1 + tki_random_unit(random), exponent)));
        }
    }
}

static void fill_equal(const lines *v, tki_random *random)
{
    double value = tki_random_normal(random);
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, value);
}

static void fill_one_hot(const lines *v, tki_random *random)
{
    if (!v->first_input) {
        fill_normal(v, random);
        return;
    }
    for (int64_t l = 0; l < v->count; l++) {
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, background(v));
        if (v->length > 0)
            put(v, l, (int64_t)tki_random_below(random, (uint64_t)v->length), 1);
    }
}

static void fill_sorted(const lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        double first = tki_random_normal(random);
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, first + 8.0 * (double)t / (double)v->length);
    }
}

static void fill_alternating(const lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, (t & 1 ? -1 : 1) * (1 + tki_random_unit(random)));
}

static void fill_constant_rows(const lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        double value = tki_random_normal(random) * 4;
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, value);
    }
}

static void fill_minus_inf(const lines *v, tki_random *random)
{
    fill_normal(v, random);
    if (!v->first_input)
        return;
    for (int64_t l = 0; l < v->count; l++) {
        uint64_t kind = tki_random_below(random, 3);
        for (int64_t t = 0; t < v->length && kind > 0; t++)
            if (kind == 1 || tki_random_u64(random) % 3 == 0)
                put(v, l, t, -INFINITY);
    }
}

static void fill_confident(const lines *v, tki_random *random)
{
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        int64_t anywhere = (int64_t)tki_random_below(random, (uint64_t)v->length);
        put(v, l, l & 1 ? anywhere : tki_peak_place(l, v->length), 12 + 20 * tki_random_unit(random));
    }
}

/* A skipped zero shows only where it meets an infinity, in a line with no other NaN: even lines have zeros, every second of them nothing
 * else, odd ones one infinity, so that each input's zeros meet the other's infinities. */
static void fill_zero_inf(const lines *v, tki_random *random)
{
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        /* The other way round in the other inputs, for ops that pair line l with line l. */
        bool infinite = (l & 1) == v->first_input;
        for (int64_t t = 0; t < v->length && !infinite; t++)
            if (!(l & 2) || tki_random_u64(random) % 3 == 0)
                put(v, l, t, with_sign(random, 0.0));
        if (infinite) {
            int64_t place = (int64_t)tki_random_below(random, (uint64_t)v->length);
            put(v, l, place, with_sign(random, INFINITY));
        }
    }
}

/* Integers times one power of two, so small that their sum, or that of their products with a partner drawn likewise, stays below 2^24
 * units: fp32 rounds no partial sum, in whatever order they are taken. Nothing is zero, so that every term counts. */
static void fill_exact(const lines *v, tki_random *random)
{
    const int64_t units = INT64_C(1) << 24;
    const int64_t most_integer = INT64_C(1) << v->format.precision;
    const int64_t length = v->length > 0 ? v->length : 1;
    int64_t most = units / length;
    if (v->factors > 1) {
        int64_t root = 1;
        while ((root + 1) * (root + 1) <= most)
            root++;
        most = root;
    }
    most = most < 1 ? 1 : most > most_integer ? most_integer : most;
    /* A line that is longer than that has one term in two units' room. */
    const uint64_t kept = length > units ? (uint64_t)units / 2 : (uint64_t)length;
    int exponent = (int)tki_random_below(random, 5) - 2;
    for (int64_t m = most; m > 1; m /= 2)
        exponent--;
    /* Integers as they are, in both factors: there are paths for these. In fp16 most of their sums would overflow. */
    if (exponent_max(v->result) > 24 && length % 3 == 0)
        exponent = 0;
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double magnitude = ldexp((double)(1 + tki_random_below(random, (uint64_t)most)), exponent);
            bool here = kept == (uint64_t)length || tki_random_below(random, (uint64_t)length) < kept;
            put(v, l, t, here ? with_sign(random, magnitude) : 0);
        }
}

/* One over it, rounded, is another number than one over each of its neighbours. */
static bool shows_its_count(tk_dtype dtype, int64_t count)
{
    uint32_t bits = tki_round_double(dtype, 1 / (double)count);
    return bits != tki_round_double(dtype, 1 / (double)(count + 1)) &&
           (count == 1 || bits != tki_round_double(dtype, 1 / (double)(count - 1)));
}

/* How many are highest: all, a number that the quotient shows, or any, which the fp32 loss of a row shows. */
static int64_t plateau_count(tk_dtype dtype, int64_t length, tki_random *random)
{
    /* Sums of more have no useful bound. */
    const int64_t most = length < 1 << 20 ? length : 1 << 20;
    uint64_t kind = tki_random_below(random, 4);
    uint64_t bits = tki_random_below(random, 21);
    uint64_t rest = tki_random_below(random, UINT64_C(1) << bits);
    if (kind == 0 && length == most)
        return length;
    int64_t count = (INT64_C(1) << bits) + (int64_t)rest;
    if (kind > 1)
        count %= scales_of(dtype).plateau_counts;
    count = count % most + 1;
    while (kind > 1 && !shows_its_count(dtype, count))
        count--;
    return count;
}

/* In a softmax an element 104 below the maximum is nothing. */
static double too_far_below(const lines *v, double highest, tki_random *random)
{
    switch (tki_random_below(random, 3)) {
    case 0: return background(v);
    case 1: return -INFINITY;
    default: return highest - 106 - (double)tki_random_below(random, 90);
    }
}

/* 1 to 300, either sign; of four one is larger, where logits of no difference lose what fp32 adds to them. */
static double draw_offset(const lines *v, tki_random *random)
{
    int order = (int)tki_random_below(random, 9);
    double offset = ldexp(1 + tki_random_unit(random) / (order == 8 ? 6 : 1), order);
    int larger = 1 + (int)tki_random_below(random, (uint64_t)smaller(exponent_max(v->dtype) - 9, 24));
    return with_sign(random, tki_random_below(random, 4) ? offset : ldexp(offset, 14 - order - 6 + larger));
}

enum { WANTED = 4 };

/* Places that are to be among the highest: the target of an even line, often the last place, sometimes the first or one at a chunk's
 * edge. How many, at most `most`. */
static int draw_wanted(const lines *v, int64_t l, int64_t most, int64_t wanted[WANTED], tki_random *random)
{
    const uint64_t which = tki_random_u64(random);
    const int64_t candidates[WANTED] = {tki_peak_place(l, v->length), v->length - 1, 0, any_place(v->length, random)};
    const bool here[WANTED] = {!(l & 1), which & 1, (which & 6) == 0, (which & 24) == 0};
    int count = 0;
    for (int i = 0; i < WANTED; i++) {
        bool again = false;
        for (int k = 0; k < count; k++)
            again |= wanted[k] == candidates[i];
        if (here[i] && !again && count < most)
            wanted[count++] = candidates[i];
    }
    return count;
}

static bool is_among(int64_t place, const int64_t *places, int count)
{
    for (int i = 0; i < count; i++)
        if (places[i] == place)
            return true;
    return false;
}

/* How far a place lies behind `begin`, around the end. */
static int64_t distance_behind(int64_t begin, int64_t place, int64_t length)
{
    return place >= begin ? place - begin : place - begin + length;
}

static void fill_plateau_line(const lines *v, int64_t l, tki_random *random)
{
    double highest = 0;
    uint64_t level = tki_random_below(random, 8);
    if (level == 4)
        highest = tki_random_normal(random) * 4;
    else if (level > 4)
        highest = draw_offset(v, random);
    highest = tki_decode(v->dtype, tki_round_double(v->dtype, highest));
    const double low = too_far_below(v, highest, random);
    const int64_t count = plateau_count(v->result, v->length, random);
    const int64_t begin = any_place(v->length, random);
    const bool scattered = tki_random_u64(random) & 1;
    int64_t wanted[WANTED];
    const int wanted_count = draw_wanted(v, l, count, wanted, random);
    /* In one block: as many as leave room for those that are wanted elsewhere. */
    int64_t block = count;
    int outside = 0;
    do {
        block = count - outside;
        outside = 0;
        for (int i = 0; i < wanted_count; i++)
            outside += distance_behind(begin, wanted[i], v->length) >= block;
    } while (block + outside > count);
    /* Scattered: so many of the places that are not wanted. */
    int64_t left = count - wanted_count;
    int64_t places = v->length - wanted_count;
    for (int64_t t = 0; t < v->length; t++) {
        bool high = is_among(t, wanted, wanted_count);
        if (!high && scattered) {
            high = (int64_t)tki_random_below(random, (uint64_t)places) < left;
            places--;
            left -= high;
        } else if (!high) {
            high = distance_behind(begin, t, v->length) < block;
        }
        put(v, l, t, high ? highest : low);
    }
}

static void fill_plateau(const lines *v, tki_random *random)
{
    if (!v->low_background) {
        fill_normal(v, random);
        return;
    }
    for (int64_t l = 0; l < v->count && v->length > 0; l++)
        fill_plateau_line(v, l, random);
}

static void fill_offset(const lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        double offset = draw_offset(v, random);
        double spread = tki_random_u64(random) & 1 ? 1 : 8;
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, offset + spread * tki_random_normal(random));
    }
}

static void fill_log_uniform(const lines *v, tki_random *random)
{
    const int highest = exponent_max(v->dtype);
    const int lowest = tki_format_exponent_lowest(v->format);
    for (int64_t l = 0; l < v->count; l++) {
        /* Products and sums of a line stay in the format as a rule; an exponential is interesting up to about 2^9. */
        int top = v->low_background ? 9 - (int)tki_random_below(random, 16)
                                    : (highest - (int)tki_random_below(random, (uint64_t)highest)) / 2;
        int span = 24;
        if (!v->summed) {
            top = highest;
            span = highest - lowest + 1;
        }
        for (int64_t t = 0; t < v->length; t++) {
            int exponent = top - (int)tki_random_below(random, (uint64_t)span);
            put(v, l, t, with_sign(random, ldexp(1 + tki_random_unit(random), exponent)));
        }
    }
}

/* Where code for exp, tanh and the like branches, and where formats end. */
static const double thresholds[] = {
    0.5,  1,     0.625,      0.25,    2,     3,    4,      4.97,   5,      6,   7.9,  8,   9,   9.01, 10,
    10.6, 11,    12,         15,      16,    16.6, 17,     17.3,   18,     19,  20,   24,  25,  30,   32,
    50,   64,    80,         86.6,    87,    87.3, 88,     88.4,   88.7,   89,  90,   96,  100, 103,  103.9,
    104,  104.5, 127,        128,     0.044, 0.35, 0.3466, 0.6931, 1.0397, 256, 300,  512, 709, 745,  1e3,
    2048, 65504, 0x1.fep127, 0x1p-14, 1e-3,  1e-4, 1e-5,   1e-6,   1e-7,   0.1, 1e-2, 60,
};

enum { THRESHOLDS = sizeof thresholds / sizeof *thresholds };

/* Where fp32 itself has them: the ends of exp's range and of tanh's, of the format, and what code takes for log(2) / 2. */
static const double fine_thresholds[] = {
    0x1.62e42ep6, 0x1.5d58ap6, 0x1.9fe368p6, 0x1.205966p3, 0x1.62e43p-2, 0x1.0a2b24p0, 0x1p-12, 0x1p-24,
    0x1p-126,     0x1p-149,    0x1p24,       0x1p31,       0x1p32,       0x1p63,       0x1p64,  0x1.fffffep127,
};

enum { FINE_THRESHOLDS = sizeof fine_thresholds / sizeof *fine_thresholds };

/* One of them or a neighbour at most two steps away. Numbers of more bits lie so close that steps are of every size up to fp16's. */
static uint32_t near_threshold(const lines *v, tki_random *random)
{
    const bool fine = v->format.precision > 11;
    double threshold = thresholds[tki_random_below(random, THRESHOLDS)];
    if (fine && tki_random_below(random, 2))
        threshold = fine_thresholds[tki_random_below(random, FINE_THRESHOLDS)];
    const uint64_t step = fine ? UINT64_C(1) << tki_random_below(random, (uint64_t)v->format.precision - 10) : 1;
    const uint64_t shift = (tki_random_below(random, 5) - 2) * step;
    const uint32_t bits = tki_round_double(v->dtype, threshold) + (uint32_t)shift;
    return bits <= v->format.largest ? bits : v->format.largest;
}

static void fill_thresholds(const lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        bool below_zero = v->low_background && tki_random_below(random, 4);
        for (int64_t t = 0; t < v->length; t++) {
            bool negative = below_zero || tki_random_u64(random) & 1;
            put_bits(v, l, t, near_threshold(v, random) | (negative ? v->format.sign : 0));
        }
        /* The distances to the maximum are then what was drawn. */
        if (below_zero)
            put(v, l, any_place(v->length, random), 0);
    }
}

/* Two terms at any places: a number of the format, and half a unit in the result's last place and a hair. The partners are one power of two along
 * each line. */
static void fill_near_tie(const lines *v, tki_random *random)
{
    const double own_place = last_place(v->dtype);
    const uint64_t significands = UINT64_C(1) << (v->format.precision - 1);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        int exponent = (int)tki_random_below(random, 5) - 2;
        double value = with_sign(random,
                                 ldexp(1 + own_place * (double)tki_random_below(random, significands), exponent));
        double half = ldexp(last_place(v->result) / 2, exponent);
        double hair = half * own_place * (double)(1 + tki_random_below(random, 3));
        half = tki_random_u64(random) & 1 ? half + hair : half - hair / 2;
        half = with_sign(random, half);
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, v->first_input ? 0 : copysign(ldexp(1, exponent), value));
        if (!v->first_input)
            continue;
        int64_t place = any_place(v->length, random);
        int64_t other = any_place(v->length, random);
        if (other == place)
            other = (place + 1) % v->length;
        put(v, l, other, half);
        put(v, l, place, value);
    }
}

/* Two products: one is a rounding midpoint whose even neighbour is the lower one, the other less than a unit in the last place of fp32 and
 * more than the bound of two fp32 products. A sum that is rounded goes up; one that is truncated, as matrix units do, stays at the
 * midpoint and goes down. */
static void fill_truncation(const lines *v, tki_random *random)
{
    /* Below 1.75, where the bound would be as large as the second product. */
    const uint64_t most = scales_of(v->dtype).truncation_steps;
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 1 && v->factors > 1; l++) {
        const double sign = tki_random_u64(random) & 1 ? 1 : -1;
        const double odd = (double)(3 + 4 * tki_random_below(random, most));
        for (int64_t t = 2; t < v->length && v->first_input; t++)
            put(v, l, t, 0);
        put(v, l, 0, v->first_input ? sign * 1.5 : 1 + odd * last_place(v->dtype));
        put(v, l, 1, v->first_input ? sign * 0x1.cp-12 : 0x1p-12);
    }
}

static void put_special_anywhere(const lines *v, int64_t l, const uint32_t special[5], tki_random *random)
{
    const uint32_t bits = special[tki_random_below(random, 5)];
    put_bits(v, l, any_place(v->length, random), bits);
}

static void fill_one_special(const lines *v, tki_random *random)
{
    const uint32_t infinity = tki_round_double(v->dtype, INFINITY), sign = v->format.sign;
    const uint32_t special[] = {v->format.nan, infinity, infinity | sign, sign, infinity | 1};
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        /* In every input of some lines, so that some results have none. */
        uint64_t kind = tki_random_below(random, 5);
        int64_t place = any_place(v->length, random);
        /* Of tails it is the last place that matters, of vectors the first. */
        place = l % 4 == 0 ? v->length - 1 : l % 4 == 1 ? 0 : place;
        if (!v->summed || tki_random_below(random, v->factors > 1 ? 3 : 2) == 0)
            put_bits(v, l, place, special[kind]);
        for (int64_t i = 0; !v->summed && i < v->length / 64; i++)
            put_special_anywhere(v, l, special, random);
    }
}

/* Lines of nothing but zeros of either sign, and lines with one element that is none: what is left out for being zero shows by its
 * sign, or by what stands beside it. */
static void fill_zeros(const lines *v, tki_random *random)
{
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        const uint64_t kind = v->count == 1 ? 1 : tki_random_below(random, 3);
        const int64_t kept = any_place(v->length, random);
        for (int64_t t = 0; t < v->length && kind < 2; t++)
            if (kind == 0 || t != kept)
                put(v, l, t, with_sign(random, -0.0));
    }
}

static void fill_small_among(const lines *v, tki_random *random)
{
    const double normal = smallest_normal(v->dtype);
    for (int64_t l = 0; l < v->count; l++) {
        /* Two tensors that meet have them in turn, or every product of bf16 would vanish. */
        bool small = (l & 1) != v->first_input || !v->summed;
        for (int64_t t = 0; t < v->length; t++) {
            uint64_t kind = tki_random_below(random, 4);
            double value = tki_random_normal(random);
            if (kind == 1)
                value = small ? value * normal / 2 : value * 64;
            else if (kind == 2)
                value = copysign(small ? normal : 1, value);
            else if (kind == 3 && small)
                value = copysign(0, value);
            put(v, l, t, value);
        }
    }
}

static void fill_peaks(const lines *v, tki_random *random)
{
    static const double heights[] = {0, 0.5, 3, 20, 90};
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        double highest = -INFINITY;
        for (int64_t t = 0; t < v->length; t++)
            highest = fmax(highest, tki_decode(v->dtype, get(v, l, t)));
        highest += heights[tki_random_below(random, 5)];
        uint64_t kind = tki_random_below(random, 3);
        int64_t peaks = kind == 1 ? 2 + (int64_t)tki_random_below(random, 7) : kind == 2 ? 0 : 1;
        for (int64_t i = 0; i < peaks; i++)
            put(v, l, any_place(v->length, random), highest);
        for (int64_t t = 0; t < v->length && kind == 2; t++)
            put(v, l, t, highest - 8.0 * (double)t / (double)v->length);
    }
}

static void fill_one_sign(const lines *v, tki_random *random)
{
    const double scale = v->first_input ? ldexp(1, (int)tki_random_below(random, 2)) : 1;
    const bool negative = tki_random_u64(random) & 1;
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double value = scale * (1 + tki_random_unit(random));
            put(v, l, t, negative ? -value : value);
        }
}

/* The smallest normal numbers and below against the largest; every second line the other way round, where lines of both meet. */
static void fill_far_apart(const lines *v, tki_random *random)
{
    const int lowest = v->format.exponent_min - 4, highest = exponent_max(v->dtype);
    const int depth = (int)tki_random_below(random, scales_of(v->dtype).far_depth);
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double value = with_sign(random, 1 + 0.98 * tki_random_unit(random));
            int exponent = (int)tki_random_below(random, 6);
            put(v, l, t, ldexp(value, v->first_input ? lowest + depth + exponent : highest - exponent));
        }
}

/* What is left out for being zero, or for being compared with NaN, shows where that meets the only NaN of a line. */
static void fill_zero_nan(const lines *v, tki_random *random)
{
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        const int64_t place = any_place(v->length, random);
        const bool nan = !v->first_input && tki_random_below(random, 3) == 0;
        for (int64_t t = 0; t < v->length && v->first_input; t++)
            if (tki_random_u64(random) & 1)
                put(v, l, t, 0);
        if (nan)
            put_bits(v, l, place, v->format.nan);
    }
}

/* One term of an odd number of halves of the smallest subnormal number; the partners are one power of two. */
static void fill_small_ties(const lines *v, tki_random *random)
{
    /* Of wider results only if their factors are numbers of the format. */
    const bool reaches = tki_format_of(v->result).exponent_min == v->format.exponent_min;
    const scales s = scales_of(reaches ? v->result : v->dtype);
    const double partner = ldexp(1, s.tie_partner);
    const double unit = ldexp(1, s.tie_factor);
    const uint64_t most = scales_of(v->dtype).tie_steps;
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        const double odd = (double)(2 * tki_random_below(random, most) + 1);
        const double value = with_sign(random, odd * unit);
        const int64_t place = any_place(v->length, random);
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, v->first_input ? (t == place ? value : 0) : partner);
    }
}

/* A pattern of up to 16 bits as it is. More bits are too many to try: `turn` is then the upper half, and below it is anything, often all
 * ones or zeros. */
static uint32_t pattern_in_turn(const lines *v, uint64_t turn, tki_random *random)
{
    const uint32_t half = (uint16_t)turn;
    if (tki_format_bits(v->dtype) <= 16)
        return half;
    const uint64_t draw = tki_random_u64(random);
    const uint32_t end = draw & 4 ? 0xffff : 0;
    return half << 16 | (draw & 3 ? (uint32_t)(draw >> 48) : end);
}

static void fill_special_partners(const lines *v, tki_random *random)
{
    const uint32_t infinity = tki_round_double(v->dtype, INFINITY);
    const uint32_t special[] = {infinity, v->format.largest, 0, 1, v->format.nan};
    const uint64_t step = tki_random_u64(random) | 1;
    const uint64_t first = tki_random_u64(random);
    for (int64_t t = 0; t < v->length; t++) {
        if (v->last_input) {
            put_bits(v, 0, t, pattern_in_turn(v, first + (uint64_t)t * step, random));
            continue;
        }
        /* Infinities are what most partners turn into something else. */
        uint64_t kind = tki_random_below(random, 8);
        uint32_t sign = tki_random_u64(random) & 1 ? v->format.sign : 0;
        put_bits(v, 0, t, special[kind < 5 ? kind : 0] | sign);
    }
}

/* All below the peak weigh between a 64th of it and four times as much as it, together. */
static void fill_crowd(const lines *v, tki_random *random)
{
    fill_normal(v, random);
    if (!v->low_background)
        return;
    for (int64_t l = 0; l < v->count && v->length > 1; l++) {
        const double weight = ldexp(1, (int)tki_random_below(random, 9) - 6);
        const double distance = log((double)(v->length - 1) / weight);
        const double top = 8 * tki_random_unit(random) - 4;
        const int64_t place = any_place(v->length, random);
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, t == place ? top : top - distance + 0.25 * tki_random_unit(random));
    }
}

/* Partners are one power of two along a line, or what is huge would not cancel. */
static void fill_order(const lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        double large = ldexp(1, smaller(exponent_max(v->dtype), 20));
        const double partner = ldexp(1, (int)tki_random_below(random, 3) - 2);
        for (int64_t t = 0; t < v->length; t++) {
            const bool closing = t == v->length - 1 && large < 0;
            const uint64_t draw = tki_random_u64(random);
            const int exponent = (int)tki_random_below(random, 12) - 12;
            const double small = with_sign(random, ldexp(1 + tki_random_unit(random), exponent));
            const bool huge = closing || (t < v->length - 1 && draw % 4 == 0);
            put(v, l, t, !v->first_input ? partner : huge ? large : small);
            large = huge ? -large : large;
        }
    }
}

static void fill_scaled_lines(const lines *v, tki_random *random)
{
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count; l++) {
        const double scale = ldexp(1, (int)tki_random_below(random, 14) - 9);
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, scale * tki_decode(v->dtype, get(v, l, t)));
    }
}

static void fill_tail(const lines *v, tki_random *random)
{
    enum { MOST_TERMS = 3, PLACES = 64 };
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0 && v->first_input; l++) {
        const uint64_t places = (uint64_t)(v->length < PLACES ? v->length : PLACES);
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, background(v));
        const int64_t anywhere = (int64_t)tki_random_below(random, (uint64_t)v->length);
        put(v, l, anywhere, tki_random_normal(random));
        for (int i = 0; i < MOST_TERMS; i++) {
            const int64_t place = v->length - 1 - (int64_t)tki_random_below(random, places);
            put(v, l, place, tki_random_normal(random));
        }
    }
}

/* Every pattern in an order of its own; the partners are of every kind. */
static void fill_each_pattern(const lines *v, tki_random *random)
{
    uint64_t step = tki_random_u64(random) | 1;
    uint64_t first = tki_random_u64(random);
    for (int64_t t = 0; t < v->length; t++) {
        if (v->last_input) {
            put_bits(v, 0, t, pattern_in_turn(v, first + (uint64_t)t * step, random));
            continue;
        }
        uint64_t kind = tki_random_below(random, 4);
        double value = tki_random_normal(random);
        put(v, 0, t, kind == 1 ? copysign(1, value) : value);
        if (kind == 2)
            put_bits(v, 0, t, finite_pattern(v, random));
        else if (kind == 3)
            put_bits(v, 0, t, near_threshold(v, random));
    }
}

/* What index families draw as values: something that shows where it went. */
static void fill_telling(const lines *v, tki_random *random)
{
    if (v->kind == COPIES)
        fill_patterns(v, random, false);
    else if (v->kind == ADDS)
        fill_exact(v, random);
    else
        fill_normal(v, random);
}

/* Every pattern equally likely; in most families, where sums should be told from overflow, small numbers; and the ends of the range. */
static void fill_integers(tki_family family, tk_dtype dtype, void *data, int64_t count, tki_random *random)
{
    const size_t bytes = tk_dtype_size(dtype);
    const int kept = family == TKI_FAMILY_BITS || family == TKI_FAMILY_FINITE_BITS ? 0 : 64 - 12;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t drawn = tki_random_u64(random);
        uint64_t value = kept ? (uint64_t)((int64_t)drawn >> kept) : drawn;
        if (tki_format_of(dtype).number == TKI_UNSIGNED && kept)
            value = drawn >> kept;
        if (family == TKI_FAMILY_ZEROS || family == TKI_FAMILY_EQUAL)
            value = family == TKI_FAMILY_EQUAL;
        if (family == TKI_FAMILY_HUGE_VALUES || (family == TKI_FAMILY_SPECIAL && drawn % 8 == 0))
            value = UINT64_MAX >> (drawn & 1) << (drawn >> 1 & 1);
        memcpy((char *)data + (size_t)i * bytes, &value, bytes);
    }
}

static void fill_values(tki_family family, const lines *v, tki_random *random)
{
    switch (family) {
    case TKI_FAMILY_FINITE_BITS: fill_patterns(v, random, true); return;
    case TKI_FAMILY_BITS: fill_patterns(v, random, false); return;
    case TKI_FAMILY_SPECIAL: fill_special(v, random); return;
    case TKI_FAMILY_SUBNORMAL: fill_subnormal(v, random); return;
    case TKI_FAMILY_HUGE_VALUES: fill_huge(v, random); return;
    case TKI_FAMILY_CANCEL: fill_cancel(v, random); return;
    case TKI_FAMILY_SWAMP: fill_swamp(v, random); return;
    case TKI_FAMILY_FEW: fill_few(v, random); return;
    case TKI_FAMILY_MIDPOINT: fill_midpoint(v, random); return;
    case TKI_FAMILY_MIXED_EXPONENTS: fill_mixed(v, random); return;
    case TKI_FAMILY_EQUAL: fill_equal(v, random); return;
    case TKI_FAMILY_ONE_HOT: fill_one_hot(v, random); return;
    case TKI_FAMILY_SORTED: fill_sorted(v, random); return;
    case TKI_FAMILY_ALTERNATING: fill_alternating(v, random); return;
    case TKI_FAMILY_CONSTANT_ROWS: fill_constant_rows(v, random); return;
    case TKI_FAMILY_MINUS_INF: fill_minus_inf(v, random); return;
    case TKI_FAMILY_CONFIDENT: fill_confident(v, random); return;
    case TKI_FAMILY_ZERO_INF: fill_zero_inf(v, random); return;
    case TKI_FAMILY_EXACT: fill_exact(v, random); return;
    case TKI_FAMILY_PLATEAU: fill_plateau(v, random); return;
    case TKI_FAMILY_OFFSET: fill_offset(v, random); return;
    case TKI_FAMILY_LOG_UNIFORM: fill_log_uniform(v, random); return;
    case TKI_FAMILY_THRESHOLDS: fill_thresholds(v, random); return;
    case TKI_FAMILY_NEAR_TIE: fill_near_tie(v, random); return;
    case TKI_FAMILY_ONE_SPECIAL: fill_one_special(v, random); return;
    case TKI_FAMILY_SMALL_AMONG: fill_small_among(v, random); return;
    case TKI_FAMILY_PEAKS: fill_peaks(v, random); return;
    case TKI_FAMILY_ZEROS: fill_zeros(v, random); return;
    case TKI_FAMILY_TRUNCATION: fill_truncation(v, random); return;
    case TKI_FAMILY_EACH_PATTERN: fill_each_pattern(v, random); return;
    case TKI_FAMILY_ONE_SIGN: fill_one_sign(v, random); return;
    case TKI_FAMILY_FAR_APART: fill_far_apart(v, random); return;
    case TKI_FAMILY_ZERO_NAN: fill_zero_nan(v, random); return;
    case TKI_FAMILY_SMALL_TIES: fill_small_ties(v, random); return;
    case TKI_FAMILY_SPECIAL_PARTNERS: fill_special_partners(v, random); return;
    case TKI_FAMILY_CROWD: fill_crowd(v, random); return;
    case TKI_FAMILY_TAIL: fill_tail(v, random); return;
    case TKI_FAMILY_ORDER: fill_order(v, random); return;
    case TKI_FAMILY_SCALED_LINES: fill_scaled_lines(v, random); return;
    case TKI_FAMILY_INDEX_RUNS:
    case TKI_FAMILY_INDEX_TWO:
    case TKI_FAMILY_INDEX_PERMUTED:
    case TKI_FAMILY_INDEX_LAST:
    case TKI_FAMILY_INDEX_COUNTS:
    case TKI_FAMILY_INDEX_HIGH: fill_telling(v, random); return;
    case TKI_FAMILY_NEAREST_TIES: /* as partners of what is chosen later */
    case TKI_FAMILY_NORMAL:
    case TKI_FAMILY_INDEX_ZIPF:
    case TKI_FAMILY_INDEX_EQUAL:
    case TKI_FAMILY_INDEX_SORTED:
    case TKI_FAMILY_INDEX_EACH_ONCE:
    case TKI_FAMILY_INDEX_ENDS:
    case TKI_FAMILY_COUNT: fill_normal(v, random); return;
    }
}

/* How far a value lies from the nearest rounding midpoint, in units of the last place. */
static double from_midpoint(tk_dtype dtype, double value)
{
    double places = fabs(value) / tki_ulp(dtype, value);
    return fabs(places - floor(places) - 0.5);
}

/* Of so many first inputs the one whose result, `slope` times as large, comes nearest to a midpoint. */
static double near_tie(tk_dtype dtype, tk_dtype result, double slope, int candidates, tki_random *random)
{
    const tki_format format = tki_format_of(dtype);
    const int lowest = tki_format_exponent_lowest(format);
    const int highest = tki_format_exponent_max(format);
    const uint64_t significands = UINT64_C(1) << (format.precision - 1);
    /* Mostly of moderate size; results among the subnormal numbers and near the largest ones, too. */
    int exponent = (int)tki_random_below(random, 8) - 4;
    if (tki_random_below(random, 4) == 0)
        exponent = lowest + (int)tki_random_below(random, (uint64_t)(highest - lowest + 1));
    const double size = ldexp(with_sign(random, 1) / (double)significands, exponent);
    double best = 0;
    double least = 1;
    for (int k = 0; k < candidates; k++) {
        /* What is too small for so many bits is cut down to those it has. */
        double drawn = size * (double)(significands + tki_random_below(random, significands));
        double value = exponent < format.exponent_min ? tki_decode(dtype, tki_round_double(dtype, drawn)) : drawn;
        double distance = from_midpoint(result, value * slope);
        if (distance < least) {
            least = distance;
            best = value;
        }
    }
    return best;
}

enum { BLOCK = 256, MOST_BYTES = 8 };

/* Elements of one input, as many as are asked about at a time. */
typedef struct block {
    _Alignas(MOST_BYTES) unsigned char data[BLOCK * MOST_BYTES];
} block;

/* For an elementwise op that is linear in the first of its two inputs: for each second one a first one whose result lies near a midpoint,
 * as the oracle has it. Where there is none, since the second is special, the first stays as it was drawn; so do some others unless `all`
 * is set. */
static void choose_near_ties(const tk_case *c, void *const data[], int candidates, bool all, tki_random *random)
{
    const tki_oracle *oracle = tki_oracle_of(c->contract);
    const tk_dtype dtype = tk_case_param_dtype(c, 0), result = tk_case_param_dtype(c, 2);
    const size_t second_bytes = tk_dtype_size(tk_case_param_dtype(c, 1));
    tk_case part = *c;
    block ones;
    tki_enclosure slopes[BLOCK];
    void *tables = NULL;
    if (!oracle || (oracle->open && oracle->open(c->dtype, &tables) != TK_OK))
        return;
    for (int i = 0; i < BLOCK; i++)
        tki_put_bits(dtype, ones.data, i, tki_round_double(dtype, 1));
    for (int64_t begin = 0; begin < c->dims[0]; begin += BLOCK) {
        const void *buffers[TK_MAX_PARAMS] = {ones.data, (const char *)data[1] + (size_t)begin * second_bytes};
        part.dims[0] = c->dims[0] - begin < BLOCK ? c->dims[0] - begin : BLOCK;
        const tki_oracle_job job = {.c = &part, .buffers = buffers, .output = 2, .tables = tables};
        if (oracle->enclose(&job, &(tki_box){0, 1, 0, part.dims[0]}, slopes) != TK_OK)
            return;
        for (int64_t i = 0; i < part.dims[0]; i++) {
            if (slopes[i].admits != TKI_ADMIT_INTERVAL || (!all && tki_random_below(random, 4) == 0))
                continue;
            const double value = near_tie(dtype, result, slopes[i].lo, candidates, random);
            tki_put_bits(dtype, data[0], begin + i, tki_round_double(dtype, value));
        }
    }
}

/* The patterns whose results came nearest to a midpoint so far, nearest first. */
enum { KEPT = 64 };
typedef struct nearest {
    int count;
    uint32_t patterns[KEPT];
    double distances[KEPT];
} nearest;

static void keep_if_near(nearest *kept, uint32_t pattern, double distance)
{
    if (distance >= (kept->count < KEPT ? 0.5 : kept->distances[kept->count - 1]))
        return;
    int place = kept->count < KEPT ? kept->count++ : KEPT - 1;
    for (; place > 0 && kept->distances[place - 1] > distance; place--) {
        kept->distances[place] = kept->distances[place - 1];
        kept->patterns[place] = kept->patterns[place - 1];
    }
    kept->distances[place] = distance;
    kept->patterns[place] = pattern;
}

/* Of so many bits that not all can be tried: one of moderate size as a rule. */
static uint32_t candidate(tk_dtype dtype, tki_random *random)
{
    const uint32_t any = any_pattern(tki_format_of(dtype), random);
    const double moderate = 2 * tki_random_normal(random);
    return tki_random_below(random, 4) ? tki_round_double(dtype, moderate) : any;
}

/* For an elementwise op of one input: of all patterns, or of many drawn ones, those whose results, as the oracle has them, lie nearest to
 * a midpoint. */
static void choose_nearest_ties(const tk_case *c, void *data, tki_random *random)
{
    const tki_oracle *oracle = tki_oracle_of(c->contract);
    const tk_dtype dtype = tk_case_param_dtype(c, 0), result = tk_case_param_dtype(c, 1);
    const bool all = tki_format_bits(dtype) <= 16;
    const uint32_t tried = all ? UINT32_C(1) << tki_format_bits(dtype) : 1 << 15;
    uint32_t patterns[BLOCK];
    block inputs;
    tki_enclosure results[BLOCK];
    void *tables = NULL;
    nearest kept = {0};
    if (!oracle || (oracle->open && oracle->open(c->dtype, &tables) != TK_OK))
        return;
    for (uint32_t begin = 0; begin < tried; begin += BLOCK) {
        tk_case part = *c;
        const void *buffers[TK_MAX_PARAMS] = {inputs.data};
        part.dims[0] = BLOCK;
        for (uint32_t i = 0; i < BLOCK; i++) {
            patterns[i] = all ? begin + i : candidate(dtype, random);
            tki_put_bits(dtype, inputs.data, i, patterns[i]);
        }
        const tki_oracle_job job = {.c = &part, .buffers = buffers, .output = 1, .tables = tables};
        if (oracle->enclose(&job, &(tki_box){0, 1, 0, BLOCK}, results) != TK_OK)
            return;
        for (int i = 0; i < BLOCK; i++)
            if (results[i].admits == TKI_ADMIT_INTERVAL)
                keep_if_near(&kept, patterns[i], from_midpoint(result, results[i].lo));
    }
    for (int64_t t = 0; t < c->dims[0] && kept.count > 0; t++)
        tki_put_bits(dtype, data, t, kept.patterns[tki_random_below(random, (uint64_t)kept.count)]);
}

static bool is_elementwise_pair(const tk_contract *contract)
{
    return !contract->registered && kind_of(contract) == ELEMENTWISE && contract->param_count == 3 &&
           !contract->params[1].output;
}

void tki_family_fill(int family, const tk_case *c, uint64_t seed, void *const data[])
{
    const tki_floats floats = tki_floats_begin();
    const tk_contract *contract = c->contract;
    bool first_input = true;
    int last_value = 0;
    int factors = 0;
    for (int p = 0; p < contract->param_count; p++) {
        bool value = !contract->params[p].output && contract->params[p].kind != TK_KIND_INDEX;
        last_value = value ? p : last_value;
        factors += value && contract->params[p].inner_axis >= 0;
    }
    for (int p = 0; p < contract->param_count; p++) {
        const tk_param *param = &contract->params[p];
        tki_random random = tki_random_stream(seed, (uint64_t)family * 16 + (uint64_t)p);
        if (param->output || tk_case_elements(c, p) == 0)
            continue;
        if (param->kind == TK_KIND_INDEX) {
            tki_family_fill_index((tki_family)family, c, p, data[p], &random);
            continue;
        }
        const tk_dtype dtype = tk_case_param_dtype(c, p);
        if (tki_format_of(dtype).number != TKI_FLOATING) {
            fill_integers((tki_family)family, dtype, data[p], tk_case_elements(c, p), &random);
            continue;
        }
        int64_t cols = c->dims[param->dim[param->rank - 1]];
        int64_t rows = tk_case_elements(c, p) / cols;
        bool along_rows = param->inner_axis == 0 && param->rank == 2;
        lines v = {.data = data[p],
                   .dtype = dtype,
                   .format = tki_format_of(dtype),
                   .result = c->result_dtype,
                   .count = along_rows ? cols : rows,
                   .length = along_rows ? rows : cols,
                   .line_stride = along_rows ? 1 : cols,
                   .place_stride = along_rows ? cols : 1,
                   .kind = kind_of(contract),
                   .low_background = param->low_background,
                   .summed = param->inner_axis >= 0,
                   .factors = factors,
                   .first_input = first_input,
                   .last_input = p == last_value};
        /* What is paired is chosen for values of every size. */
        bool paired = family == TKI_FAMILY_NEAR_TIE && v.kind == ELEMENTWISE;
        fill_values(paired ? TKI_FAMILY_LOG_UNIFORM : (tki_family)family, &v, &random);
        if (paired && p == last_value && is_elementwise_pair(contract))
            choose_near_ties(c, data, 96, true, &random);
        if (family == TKI_FAMILY_NEAREST_TIES && p == last_value && is_elementwise_pair(contract))
            choose_near_ties(c, data, 4096, true, &random);
        else if (family == TKI_FAMILY_NEAREST_TIES && contract->param_count == 2 && !contract->registered)
            choose_nearest_ties(c, data[p], &random);
        if (family == TKI_FAMILY_EACH_PATTERN && p == last_value && is_elementwise_pair(contract))
            choose_near_ties(c, data, 24, false, &random);
        first_input = false;
    }
    tki_floats_end(&floats);
}
