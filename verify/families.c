/* TRUSTED. Input families. Values are drawn as doubles and rounded to the case's dtype, or drawn as patterns; a tensor is
 * walked as lines along the axis that the op sums over, since that is where mistakes add up. */
#include "verify/families.h"

#include <math.h>
#include <string.h>

#include "core/random.h"
#include "exact/floats.h"
#include "exact/round.h"

/* The number goes into the seeds, and certificates name seeds: a new family goes to the end. */
typedef enum family_id {
    NORMAL,
    FINITE_BITS,
    BITS,
    SPECIAL,
    SUBNORMAL,
    HUGE_VALUES,
    CANCEL,
    SWAMP,
    FEW,
    MIDPOINT,
    MIXED_EXPONENTS,
    EQUAL,
    ONE_HOT,
    SORTED,
    ALTERNATING,
    CONSTANT_ROWS,
    MINUS_INF,
    CONFIDENT,
    INDEX_ZIPF,
    INDEX_EQUAL,
    INDEX_SORTED,
    INDEX_EACH_ONCE,
    INDEX_ENDS,
    ZERO_INF,
    FAMILY_COUNT
} family_id;

static const struct {
    const char *name, *what;
    bool needs_index, needs_sum;
} families[FAMILY_COUNT] = {
    [NORMAL] = {"normal", "normal, variance 1", false, false},
    [FINITE_BITS] = {"finite_bits", "every finite pattern equally likely", false, false},
    [BITS] = {"bits", "every pattern equally likely, NaN and infinity included", false, false},
    [SPECIAL] = {"special", "normal, with NaN, infinities and zeros of both signs among them", false, false},
    [SUBNORMAL] = {"subnormal", "subnormal and smallest normal numbers", false, false},
    [HUGE_VALUES] = {"huge", "numbers near the largest finite one", false, false},
    [CANCEL] = {"cancel", "terms that cancel in pairs, leaving a small rest", false, true},
    [SWAMP] = {"swamp", "one huge term among many small ones", false, true},
    [FEW] = {"few", "1, 2, 8 or 16 terms that matter, strides 1, 16, 256, the last position included", false, true},
    [MIDPOINT] = {"midpoint", "sums at and right beside rounding midpoints", false, true},
    [MIXED_EXPONENTS] = {"mixed", "exponents so mixed that every order of summation gives other bits", false, true},
    [EQUAL] = {"equal", "all elements the same", false, false},
    [ONE_HOT] = {"one_hot", "one element that matters in each line", false, true},
    [SORTED] = {"sorted", "ascending along each line", false, true},
    [ALTERNATING] = {"alternating", "signs alternate", false, false},
    [CONSTANT_ROWS] = {"constant_rows", "each line constant, lines differ", false, true},
    [MINUS_INF] = {"minus_inf", "lines of -inf only, and lines with some -inf", false, true},
    [CONFIDENT] = {"confident", "one element of each line far above the others", false, true},
    [INDEX_ZIPF] = {"zipf", "normal values, Zipf-distributed indices", true, false},
    [INDEX_EQUAL] = {"same_index", "normal values, all indices equal", true, false},
    [INDEX_SORTED] = {"sorted_index", "normal values, ascending indices", true, false},
    [INDEX_EACH_ONCE] = {"each_once", "normal values, each index at most once while they last", true, false},
    [INDEX_ENDS] = {"ends", "normal values, first and last index only", true, false},
    [ZERO_INF] = {"zero_inf", "zeros of one input against infinities of the other", false, true},
};

const char *tk_family_at(int i, const char **what)
{
    if (i < 0 || i >= FAMILY_COUNT)
        return NULL;
    if (what)
        *what = families[i].what;
    return families[i].name;
}

int tki_family_find(const char *name)
{
    for (int i = 0; i < FAMILY_COUNT; i++)
        if (!strcmp(families[i].name, name))
            return i;
    return -1;
}

static bool takes_sum(const tk_contract *contract)
{
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].inner_axis >= 0)
            return true;
    return false;
}

bool tki_family_applies(int family, const tk_contract *contract)
{
    return (!families[family].needs_index || tk_contract_takes_index(contract)) &&
           (!families[family].needs_sum || takes_sum(contract));
}

/* A value tensor seen as lines: line l, place t is element l * line_stride + t * place_stride. */
typedef struct lines {
    uint16_t *data;
    tk_dtype dtype;
    int64_t count, length;
    int64_t line_stride, place_stride;
    bool low_background;
    bool summed;
    bool first_input; /* the first value input carries the pattern of FEW, CANCEL, ...; the others pair with it */
} lines;

static uint16_t *at(const lines *v, int64_t line, int64_t place)
{
    return &v->data[line * v->line_stride + place * v->place_stride];
}

static void put(const lines *v, int64_t line, int64_t place, double value)
{
    *at(v, line, place) = (uint16_t)tki_round_double(v->dtype, value);
}

static double largest(tk_dtype dtype)
{
    return dtype == TK_F16 ? 65504.0 : 0x1.fep127;
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

static uint16_t finite_pattern(tk_dtype dtype, tki_random *random)
{
    uint32_t bits;
    do
        bits = (uint32_t)tki_random_u64(random) & 0xffff;
    while (!tki_is_finite(dtype, bits));
    return (uint16_t)bits;
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
            *at(v, l, t) = finite ? finite_pattern(v->dtype, random) : (uint16_t)tki_random_u64(random);
}

static void fill_special(const lines *v, tki_random *random)
{
    uint16_t infinity = (uint16_t)tki_round_double(v->dtype, INFINITY);
    /* A signalling and a quiet NaN, one with a payload in its lowest bit, both infinities, both zeros. */
    const uint16_t special[] = {(uint16_t)(infinity | 1),
                                (uint16_t)tki_canonical_nan(v->dtype),
                                infinity,
                                (uint16_t)(infinity | 0x8000),
                                0,
                                0x8000,
                                (uint16_t)(infinity | 0x8001)};
    fill_normal(v, random);
    for (int64_t l = 0; !v->summed && l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            if (tki_random_u64(random) % 4 == 0)
                *at(v, l, t) = special[tki_random_below(random, 7)];
    for (int64_t l = 0; v->summed && l < v->count && v->length > 0; l++) {
        /* Often a single kind, so that one infinity meets no NaN in its line; sometimes nothing but both infinities. A long
         * line gets more, since an op that sums over a part of it should meet several. */
        uint64_t kinds = tki_random_below(random, 4);
        size_t kind = (size_t)tki_random_below(random, 7);
        for (int64_t i = 0; kinds > 0 && i < 3 + v->length / 16; i++) {
            if (kinds > 1)
                kind = kinds == 2 ? (size_t)tki_random_below(random, 7) : 2 + (size_t)tki_random_below(random, 2);
            *at(v, l, (int64_t)tki_random_below(random, (uint64_t)v->length)) = special[kind];
        }
    }
}

static void fill_subnormal(const lines *v, tki_random *random)
{
    double smallest_normal = v->dtype == TK_F16 ? 0x1p-14 : 0x1p-126;
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double value = with_sign(random, tki_random_unit(random) * smallest_normal * 1.25);
            /* The second tensor of a product stays moderate, or every product of bf16 would vanish. */
            put(v, l, t, v->first_input ? value : value / smallest_normal);
        }
}

static void fill_huge(const lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double value = with_sign(random, 0.5 + tki_random_unit(random) / 2);
            /* The largest number itself and half a unit of it and more: sums that just pass the end of the format. */
            uint64_t kind = v->summed && v->first_input ? tki_random_below(random, 4) : 3;
            value = kind == 0 ? copysign(1, value) : kind == 1 ? value * 0x1p-8 : value;
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

static void fill_few(const lines *v, tki_random *random)
{
    static const int64_t counts[] = {1, 2, 8, 16};
    static const int64_t strides[] = {1, 16, 256};
    fill_normal(v, random);
    if (!v->first_input)
        return;
    uint64_t offset = tki_random_u64(random) % 12;
    for (int64_t l = 0; l < v->count; l++) {
        uint64_t combination = ((uint64_t)l + offset) % 12;
        for (int64_t t = 0; t < v->length; t++)
            put(v, l, t, background(v));
        int64_t left = counts[combination % 4];
        for (int64_t t = v->length - 1; t >= 0 && left > 0; t -= strides[combination / 4], left--)
            put(v, l, t, tki_random_normal(random) * 2);
    }
}

/* Against partners of 1: a value with the last bit set or clear, half a unit in that last place, and sometimes the
 * smallest nudge to either side. */
static void fill_midpoint(const lines *v, tki_random *random)
{
    double last_place = v->dtype == TK_F16 ? 0x1p-10 : 0x1p-7;
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            if (!v->first_input || v->low_background) {
                put(v, l, t, 1);
                continue;
            }
            double value = 0;
            if (t == 0)
                value = 1 + last_place * (double)tki_random_below(random, 64);
            else if (t == 1)
                value = last_place / 2;
            else if (t == v->length - 1)
                value = (double)((int64_t)tki_random_below(random, 3) - 1) * last_place * last_place;
            put(v, l, t, value);
        }
}

/* Large terms of one size and alternating signs among small ones of mixed exponents. The large ones cancel, and what is left
 * shows in 16 bits what the small ones lost on the way: other orders lose other parts. */
static void fill_mixed_line(const lines *v, int64_t l, tki_random *random)
{
    double large = v->dtype == TK_F16 ? 0x1p13 : 0x1p18;
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

/* Where half of the confident lines have their peak. Targets of that family point there, so that an op that compares
 * the two meets confident lines that are right beside confident lines that are wrong. */
static int64_t peak_place(int64_t line, int64_t length)
{
    return (7 * line + 3) % length;
}

static void fill_confident(const lines *v, tki_random *random)
{
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        int64_t anywhere = (int64_t)tki_random_below(random, (uint64_t)v->length);
        put(v, l, l & 1 ? anywhere : peak_place(l, v->length), 12 + 20 * tki_random_unit(random));
    }
}

/* A skipped zero shows only where it meets an infinity, in a line with no other NaN: even lines have zeros, odd ones one
 * infinity, so that each input's zeros meet the other's infinities. */
static void fill_zero_inf(const lines *v, tki_random *random)
{
    fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        /* The other way round in the other inputs, for ops that pair line l with line l. */
        bool infinite = (l & 1) == v->first_input;
        for (int64_t t = 0; t < v->length && !infinite; t++)
            if (tki_random_u64(random) % 3 == 0)
                put(v, l, t, with_sign(random, 0.0));
        if (infinite) {
            int64_t place = (int64_t)tki_random_below(random, (uint64_t)v->length);
            put(v, l, place, with_sign(random, INFINITY));
        }
    }
}

static void fill_values(family_id family, const lines *v, tki_random *random)
{
    switch (family) {
    case FINITE_BITS: fill_patterns(v, random, true); return;
    case BITS: fill_patterns(v, random, false); return;
    case SPECIAL: fill_special(v, random); return;
    case SUBNORMAL: fill_subnormal(v, random); return;
    case HUGE_VALUES: fill_huge(v, random); return;
    case CANCEL: fill_cancel(v, random); return;
    case SWAMP: fill_swamp(v, random); return;
    case FEW: fill_few(v, random); return;
    case MIDPOINT: fill_midpoint(v, random); return;
    case MIXED_EXPONENTS: fill_mixed(v, random); return;
    case EQUAL: fill_equal(v, random); return;
    case ONE_HOT: fill_one_hot(v, random); return;
    case SORTED: fill_sorted(v, random); return;
    case ALTERNATING: fill_alternating(v, random); return;
    case CONSTANT_ROWS: fill_constant_rows(v, random); return;
    case MINUS_INF: fill_minus_inf(v, random); return;
    case CONFIDENT: fill_confident(v, random); return;
    case ZERO_INF: fill_zero_inf(v, random); return;
    case NORMAL:
    case INDEX_ZIPF:
    case INDEX_EQUAL:
    case INDEX_SORTED:
    case INDEX_EACH_ONCE:
    case INDEX_ENDS:
    case FAMILY_COUNT: fill_normal(v, random); return;
    }
}

/* Half of the plain draws fall on a few hot values, so that rows with many hits occur beside rows with none. */
static int64_t plain_index(int64_t bound, tki_random *random)
{
    bool hot = tki_random_u64(random) & 1;
    return (int64_t)tki_random_below(random, (uint64_t)(hot && bound > 4 ? 4 : bound));
}

static int64_t draw_index(family_id family, int64_t i, int64_t count, int64_t bound, int64_t fixed,
                          tki_random *random)
{
    switch (family) {
    /* Between -1/2 and bound - 1 before it is cut to an integer. */
    case INDEX_ZIPF: return (int64_t)fmin((double)bound - 1, 1 / (tki_random_unit(random) + 1 / (double)bound) - 1);
    /* Of the mixed exponents, too: the terms of a line cancel only where they meet. */
    case MIXED_EXPONENTS:
    case INDEX_EQUAL: return fixed;
    case INDEX_SORTED: return (int64_t)((unsigned __int128)(uint64_t)i * (uint64_t)bound / (uint64_t)count);
    case INDEX_EACH_ONCE: return (i + fixed) % bound;
    case INDEX_ENDS: return tki_random_u64(random) & 1 ? bound - 1 : 0;
    case CONFIDENT: return peak_place(i, bound);
    default: return plain_index(bound, random);
    }
}

static void fill_index(family_id family, const tk_case *c, int param, void *data, tki_random *random)
{
    const tk_param *p = &c->contract->params[param];
    int64_t count = tk_case_elements(c, param);
    int64_t bound = c->dims[p->indexed_dim];
    int64_t fixed = bound > 0 ? (int64_t)tki_random_below(random, (uint64_t)bound) : 0;
    bool can_ignore = c->contract->takes_xent_options &&
                      (c->index_dtype == TK_I64 || c->xent.ignore_index == (int32_t)c->xent.ignore_index);
    for (int64_t i = 0; i < count; i++) {
        /* With nothing to point at, an ignored target is the only valid one. */
        bool ignored = can_ignore && (bound == 0 || tki_random_u64(random) % 8 == 0);
        int64_t value = ignored     ? c->xent.ignore_index
                        : bound > 0 ? draw_index(family, i, count, bound, fixed, random)
                                    : 0;
        if (c->index_dtype == TK_I64)
            ((int64_t *)data)[i] = value;
        else
            ((int32_t *)data)[i] = (int32_t)value;
    }
}

void tki_family_fill(int family, const tk_case *c, uint64_t seed, void *const data[])
{
    const tki_floats floats = tki_floats_begin();
    const tk_contract *contract = c->contract;
    bool first_input = true;
    for (int p = 0; p < contract->param_count; p++) {
        const tk_param *param = &contract->params[p];
        tki_random random = tki_random_stream(seed, (uint64_t)family * 16 + (uint64_t)p);
        if (param->output || tk_case_elements(c, p) == 0)
            continue;
        if (param->kind == TK_KIND_INDEX) {
            fill_index((family_id)family, c, p, data[p], &random);
            continue;
        }
        int64_t rows = param->rank == 2 ? c->dims[param->dim[0]] : 1;
        int64_t cols = c->dims[param->dim[param->rank - 1]];
        bool along_rows = param->inner_axis == 0;
        lines v = {.data = data[p],
                   .dtype = c->dtype,
                   .count = along_rows ? cols : rows,
                   .length = along_rows ? rows : cols,
                   .line_stride = along_rows ? 1 : cols,
                   .place_stride = along_rows ? cols : 1,
                   .low_background = param->low_background,
                   .summed = param->inner_axis >= 0,
                   .first_input = first_input};
        fill_values((family_id)family, &v, &random);
        first_input = false;
    }
    tki_floats_end(&floats);
}
