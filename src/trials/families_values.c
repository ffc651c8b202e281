/* CHOOSES. Families of values for any op: patterns, special values, sizes of every order, places where code
 * branches. */
#include "trials/families_lines.h"

#include "exact/floats.h"
#include "exact/widths.h"

static uint32_t finite_pattern(const tki_lines *v, tki_random *random)
{
    uint32_t bits;
    do
        bits = tki_any_pattern(v->format, random);
    while (!tki_is_finite(v->dtype, bits));
    return bits;
}

enum { NORMALS = 256 }; /* drawn at a time */

/* The patterns of what tki_random_normal() draws one after the other, times `factor`: four side by side. Sums are exact, and numbers that are
 * normal in the format are rounded as tki_round_in() does. */
TKI_INLINE void plain_draw_normals(tki_random random, tki_format f, double factor, uint32_t patterns[NORMALS])
{
    typedef uint64_t four __attribute__((vector_size(32)));
    typedef double four_values __attribute__((vector_size(32)));
    const uint64_t each = TKI_RANDOM_NORMAL_DRAWS * TKI_RANDOM_STEP;
    const int dropped = TKI_DOUBLE_FRACTION_BITS + 1 - f.precision;
    const uint64_t below_half = (UINT64_C(1) << (dropped - 1)) - 1;
    const uint64_t least = (uint64_t)(f.exponent_min + TKI_DOUBLE_BIAS) << TKI_DOUBLE_FRACTION_BITS;
    four at = random.state + (four){0, each, 2 * each, 3 * each};
    for (int i = 0; i < NORMALS; i += 4, at += 4 * each) {
        four sum = {0};
        for (uint64_t k = 1; k <= TKI_RANDOM_NORMAL_DRAWS; k++) {
            four z = at + k * TKI_RANDOM_STEP;
            z = (z ^ z >> 30) * TKI_RANDOM_FIRST;
            z = (z ^ z >> 27) * TKI_RANDOM_SECOND;
            z ^= z >> 31;
            sum += (z >> 32) + (z & UINT32_MAX);
        }
        const four_values drawn = ((four_values)(sum | tki_double_bits(0x1p52)) - (0x1p52 + 0x6p32)) * 0x1p-32 *
                                  factor;
        const four size = (four)drawn & ~TKI_DOUBLE_SIGN;
        const four kept = (size + below_half + (size >> dropped & 1)) >> dropped;
        const four rounded = kept - ((least >> dropped) - (UINT64_C(1) << (f.precision - 1)));
        for (int lane = 0; lane < 4; lane++)
            patterns[i + lane] = size[lane] < least || rounded[lane] > f.largest
                                     ? tki_round_in(f, drawn[lane])
                                     : (uint32_t)rounded[lane] | (signbit(drawn[lane]) ? f.sign : 0);
    }
}
TKI_FOR_WIDTHS(static, void, , draw_normals,
               (tki_random random, tki_format f, double factor, uint32_t patterns[NORMALS]),
               (random, f, factor, patterns))

/* Elements begin to end, line by line. */
static void fill_normals(tki_lines v, int64_t begin, int64_t end, tki_random random)
{
    uint32_t patterns[NORMALS];
    const bool in_a_row = v.place_stride == 1 && v.line_stride == v.length;
    for (int64_t i = begin; i < end; i += NORMALS) {
        const int64_t count = end - i < NORMALS ? end - i : NORMALS;
        draw_normals(random, v.format, v.low_background ? 3 : 1, patterns);
        tki_random_skip(&random, (uint64_t)NORMALS * TKI_RANDOM_NORMAL_DRAWS);
        for (int64_t k = 0; k < count && in_a_row; k++)
            tki_put_bits(v.dtype, v.data, i + k, patterns[k]);
        for (int64_t k = 0; k < count && !in_a_row; k++)
            tki_line_put_bits(&v, (i + k) / v.length, (i + k) % v.length, patterns[k]);
    }
}

/* In blocks side by side: of a large tensor the drawing would take longer than the judging. What is drawn does not
 * depend on that. */
void tki_fill_normal(const tki_lines *v, tki_random *random)
{
    enum { BLOCK = 1 << 14 };
    const int64_t elements = v->count * v->length;
#pragma omp parallel if (elements > 4 * BLOCK)
    {
        const tki_floats floats = tki_floats_begin();
#pragma omp for
        for (int64_t begin = 0; begin < elements; begin += BLOCK) {
            tki_random here = *random;
            tki_random_skip(&here, (uint64_t)begin * TKI_RANDOM_NORMAL_DRAWS);
            fill_normals(*v, begin, begin + BLOCK < elements ? begin + BLOCK : elements, here);
        }
        tki_floats_end(&floats);
    }
    tki_random_skip(random, (uint64_t)elements * TKI_RANDOM_NORMAL_DRAWS);
}

void tki_fill_patterns(const tki_lines *v, tki_random *random, bool finite)
{
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put_bits(v, l, t, finite ? finite_pattern(v, random) : tki_any_pattern(v->format, random));
}

static void fill_special(const tki_lines *v, tki_random *random)
{
    const uint32_t infinity = tki_round_double(v->dtype, INFINITY), sign = v->format.sign;
    /* A signalling and a quiet NaN, one with a payload in its lowest bit, both infinities, both zeros. */
    const uint32_t special[] = {infinity | 1, v->format.nan, infinity, infinity | sign, 0, sign, infinity | sign | 1};
    tki_fill_normal(v, random);
    for (int64_t l = 0; !v->summed && l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            if (tki_random_u64(random) % 4 == 0)
                tki_line_put_bits(v, l, t, special[tki_random_below(random, 7)]);
    for (int64_t l = 0; v->summed && l < v->count && v->length > 0; l++) {
        /* Often a single kind, so that one infinity meets no NaN in its line; sometimes nothing but both infinities.
         * A long line gets more, since an op that sums over a part of it should meet several. */
        uint64_t kinds = tki_random_below(random, 4);
        size_t kind = (size_t)tki_random_below(random, 7);
        for (int64_t i = 0; kinds > 0 && i < 3 + v->length / 16; i++) {
            if (kinds > 1)
                kind = kinds == 2 ? (size_t)tki_random_below(random, 7) : 2 + (size_t)tki_random_below(random, 2);
            tki_line_put_bits(v, l, (int64_t)tki_random_below(random, (uint64_t)v->length), special[kind]);
        }
    }
}

static void fill_subnormal(const tki_lines *v, tki_random *random)
{
    const double normal = tki_smallest_normal_of(v->dtype);
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double value = tki_with_sign(random, tki_random_unit(random) * normal * 1.25);
            /* The second tensor of a product stays moderate, or every product of bf16 would vanish; of what is added to
             * products, half. */
            const bool added = v->kind == TKI_ADDS && !v->summed;
            const bool small = v->first_input || (added && tki_random_below(random, 2));
            tki_line_put(v, l, t, small ? value : value / normal);
        }
}

static void fill_huge(const tki_lines *v, tki_random *random)
{
    const double half_a_unit = ldexp(1, v->format.precision > 11 ? -v->format.precision : -8);
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double value = tki_with_sign(random, 0.5 + tki_random_unit(random) / 2);
            /* The largest number itself and half a unit of it and more: sums that just pass the end of the format. */
            uint64_t kind = v->summed && v->first_input ? tki_random_below(random, 4) : 3;
            value = kind == 0 ? copysign(1, value) : kind == 1 ? value * half_a_unit : value;
            bool big = v->first_input || (tki_random_u64(random) & 7) == 0;
            tki_line_put(v, l, t, big ? value * tki_largest_of(v->dtype) : value);
        }
}

static void fill_equal(const tki_lines *v, tki_random *random)
{
    double value = tki_random_normal(random);
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, value);
}

static void fill_alternating(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, (t & 1 ? -1 : 1) * (1 + tki_random_unit(random)));
}

static void fill_log_uniform(const tki_lines *v, tki_random *random)
{
    const int highest = tki_exponent_max_of(v->dtype);
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
            tki_line_put(v, l, t, tki_with_sign(random, ldexp(1 + tki_random_unit(random), exponent)));
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

/* Where fp32 itself has them: the ends of exp's range and of tanh's, of the format, and what code takes for log(2) /
 * 2. */
static const double fine_thresholds[] = {
    0x1.62e42ep6, 0x1.5d58ap6, 0x1.9fe368p6, 0x1.205966p3, 0x1.62e43p-2, 0x1.0a2b24p0, 0x1p-12, 0x1p-24,
    0x1p-126,     0x1p-149,    0x1p24,       0x1p31,       0x1p32,       0x1p63,       0x1p64,  0x1.fffffep127,
};

enum { FINE_THRESHOLDS = sizeof fine_thresholds / sizeof *fine_thresholds };

/* One of them or a neighbour at most two steps away. Numbers of more bits lie so close that steps are of every size
 * up to fp16's. */
static uint32_t near_threshold(const tki_lines *v, tki_random *random)
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

static void fill_thresholds(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        bool below_zero = v->low_background && tki_random_below(random, 4);
        for (int64_t t = 0; t < v->length; t++) {
            bool negative = below_zero || tki_random_u64(random) & 1;
            tki_line_put_bits(v, l, t, near_threshold(v, random) | (negative ? v->format.sign : 0));
        }
        /* The distances to the maximum are then what was drawn. */
        if (below_zero)
            tki_line_put(v, l, tki_any_place(v->length, random), 0);
    }
}

static void put_special_anywhere(const tki_lines *v, int64_t l, const uint32_t special[5], tki_random *random)
{
    const uint32_t bits = special[tki_random_below(random, 5)];
    tki_line_put_bits(v, l, tki_any_place(v->length, random), bits);
}

static void fill_one_special(const tki_lines *v, tki_random *random)
{
    const uint32_t infinity = tki_round_double(v->dtype, INFINITY), sign = v->format.sign;
    const uint32_t special[] = {v->format.nan, infinity, infinity | sign, sign, infinity | 1};
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        /* In every input of some lines, so that some results have none. */
        uint64_t kind = tki_random_below(random, 5);
        int64_t place = tki_any_place(v->length, random);
        /* Of tails it is the last place that matters, of vectors the first. */
        place = l % 4 == 0 ? v->length - 1 : l % 4 == 1 ? 0 : place;
        if (!v->summed || tki_random_below(random, v->factors > 1 ? 3 : 2) == 0)
            tki_line_put_bits(v, l, place, special[kind]);
        for (int64_t i = 0; !v->summed && i < v->length / 64; i++)
            put_special_anywhere(v, l, special, random);
    }
}

/* Lines of nothing but zeros of either sign, and lines with one element that is none: what is left out for being
 * zero shows by its sign, or by what stands beside it. */
static void fill_zeros(const tki_lines *v, tki_random *random)
{
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        const uint64_t kind = v->count == 1 ? 1 : tki_random_below(random, 3);
        const int64_t kept = tki_any_place(v->length, random);
        for (int64_t t = 0; t < v->length && kind < 2; t++)
            if (kind == 0 || t != kept)
                tki_line_put(v, l, t, tki_with_sign(random, -0.0));
    }
}

static void fill_nothing_else_than_zeros(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, tki_with_sign(random, 0.0));
}

static void fill_small_among(const tki_lines *v, tki_random *random)
{
    const double normal = tki_smallest_normal_of(v->dtype);
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
            tki_line_put(v, l, t, value);
        }
    }
}

/* A pattern of up to 16 bits as it is. More bits are too many to try: `turn` is then the upper half, and below it is
 * anything, often all ones or zeros. */
static uint32_t pattern_in_turn(const tki_lines *v, uint64_t turn, tki_random *random)
{
    const uint32_t half = (uint16_t)turn;
    if (tki_format_of(v->dtype).bits <= 16)
        return half;
    const uint64_t draw = tki_random_u64(random);
    const uint32_t end = draw & 4 ? 0xffff : 0;
    return half << 16 | (draw & 3 ? (uint32_t)(draw >> 48) : end);
}

static void fill_special_partners(const tki_lines *v, tki_random *random)
{
    const uint32_t infinity = tki_round_double(v->dtype, INFINITY);
    const uint32_t special[] = {infinity, v->format.largest, 0, 1, v->format.nan};
    const uint64_t step = tki_random_u64(random) | 1;
    const uint64_t first = tki_random_u64(random);
    for (int64_t i = 0; i < v->count * v->length; i++) {
        const int64_t l = i / v->length, t = i % v->length;
        if (v->last_input) {
            tki_line_put_bits(v, l, t, pattern_in_turn(v, first + (uint64_t)i * step, random));
            continue;
        }
        /* Infinities are what most partners turn into something else. */
        uint64_t kind = tki_random_below(random, 8);
        uint32_t sign = tki_random_u64(random) & 1 ? v->format.sign : 0;
        tki_line_put_bits(v, l, t, special[kind < 5 ? kind : 0] | sign);
    }
}

/* Every pattern in an order of its own; the partners are of every kind. */
static void fill_each_pattern(const tki_lines *v, tki_random *random)
{
    uint64_t step = tki_random_u64(random) | 1;
    uint64_t first = tki_random_u64(random);
    for (int64_t i = 0; i < v->count * v->length; i++) {
        const int64_t l = i / v->length, t = i % v->length;
        if (v->last_input) {
            tki_line_put_bits(v, l, t, pattern_in_turn(v, first + (uint64_t)i * step, random));
            continue;
        }
        uint64_t kind = tki_random_below(random, 4);
        double value = tki_random_normal(random);
        tki_line_put(v, l, t, kind == 1 ? copysign(1, value) : value);
        if (kind == 2)
            tki_line_put_bits(v, l, t, finite_pattern(v, random));
        else if (kind == 3)
            tki_line_put_bits(v, l, t, near_threshold(v, random));
    }
}

bool tki_fill_values(tki_family family, const tki_lines *v, tki_random *random)
{
    switch (family) {
    case TKI_FAMILY_FINITE_BITS: tki_fill_patterns(v, random, true); return true;
    case TKI_FAMILY_BITS: tki_fill_patterns(v, random, false); return true;
    case TKI_FAMILY_SPECIAL: fill_special(v, random); return true;
    case TKI_FAMILY_SUBNORMAL: fill_subnormal(v, random); return true;
    case TKI_FAMILY_HUGE_VALUES: fill_huge(v, random); return true;
    case TKI_FAMILY_EQUAL: fill_equal(v, random); return true;
    case TKI_FAMILY_ALTERNATING: fill_alternating(v, random); return true;
    case TKI_FAMILY_LOG_UNIFORM: fill_log_uniform(v, random); return true;
    case TKI_FAMILY_THRESHOLDS: fill_thresholds(v, random); return true;
    case TKI_FAMILY_ONE_SPECIAL: fill_one_special(v, random); return true;
    case TKI_FAMILY_SMALL_AMONG: fill_small_among(v, random); return true;
    case TKI_FAMILY_ZEROS: fill_zeros(v, random); return true;
    case TKI_FAMILY_ZERO_INPUT: fill_nothing_else_than_zeros(v, random); return true;
    case TKI_FAMILY_EACH_PATTERN: fill_each_pattern(v, random); return true;
    case TKI_FAMILY_SPECIAL_PARTNERS: fill_special_partners(v, random); return true;
    case TKI_FAMILY_COUNT: tki_fill_normal(v, random); return true;
    default: return false;
    }
}
