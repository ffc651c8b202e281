/* CHOOSES. Families for ops that add: cancellation, few terms, ties, sums without rounding, orders of summation. */
#include "trials/families_lines.h"

/* Pairs (w, -w) against equal partners cancel; the rest is what an exact sum is left with. */
static void fill_cancel(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t += 2) {
            double value = tki_random_normal(random) * 100;
            tki_line_put(v, l, t, value);
            if (t + 1 < v->length)
                tki_line_put(v, l, t + 1, v->first_input && !v->low_background ? -value : value);
            if ((tki_random_u64(random) & 15) == 0)
                tki_line_put(v, l, t, tki_random_normal(random) * 0x1p-6);
        }
}

static void fill_swamp(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, (1 + tki_random_unit(random)) * (v->first_input ? 0x1p-6 : 1));
        if (v->length > 0 && v->first_input) {
            int64_t place = l & 1 ? 0 : (int64_t)tki_random_below(random, (uint64_t)v->length);
            tki_line_put(v, l, place, tki_with_sign(random, v->low_background ? 4 : 1024));
        }
    }
}

/* What is added to a sum, or decides what becomes of it: half of it four times as large. So short a sum has little error, and shows that of
 * gelu or of its derivative wherever their argument is. */
static void widen(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            if (tki_random_below(random, 2))
                tki_line_put(v, l, t, tki_random_normal(random) * 4);
}

/* The counts and strides in turn, twelve of them, and each with the terms up to the last place, from the first one
 * on, up to any place, and everywhere. */
static void fill_few(const tki_lines *v, tki_random *random)
{
    static const int64_t counts[] = {1, 2, 8, 16};
    static const int64_t strides[] = {1, 16, 256};
    tki_fill_normal(v, random);
    if (!v->first_input && !v->summed)
        widen(v, random);
    if (!v->first_input || v->length == 0)
        return;
    uint64_t offset = tki_random_below(random, 48);
    for (int64_t l = 0; l < v->count; l++) {
        uint64_t combination = ((uint64_t)l + offset) % 12;
        uint64_t where = ((uint64_t)l + offset) / 12 % 4;
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, tki_background(v));
        int64_t left = counts[combination % 4];
        int64_t stride = where == 1 ? strides[combination / 4] : -strides[combination / 4];
        int64_t t = where == 0 ? v->length - 1 : where == 1 ? 0 : tki_any_place(v->length, random);
        for (; t >= 0 && t < v->length && left > 0; left--) {
            tki_line_put(v, l, t, tki_random_normal(random) * 2);
            t = where == 3 ? tki_any_place(v->length, random) : t + stride;
        }
    }
}

/* Against partners of 1: a value with the last bit set or clear, half a unit in the result's last place, and
 * sometimes the smallest nudge to either side. */
static void fill_midpoint(const tki_lines *v, tki_random *random)
{
    const double own_place = tki_last_place_of(v->dtype), place = tki_last_place_of(v->result);
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            if (!v->first_input || v->low_background) {
                tki_line_put(v, l, t, 1);
                continue;
            }
            double value = 0;
            if (t == 0)
                value = 1 + own_place * (double)tki_random_below(random, 64);
            else if (t == 1)
                value = place / 2;
            else if (t == v->length - 1)
                value = (double)((int64_t)tki_random_below(random, 3) - 1) * place * place;
            tki_line_put(v, l, t, value);
        }
}

/* Large terms of one size and alternating signs among small ones of mixed exponents. The large ones cancel, and what
 * is left shows what the small ones lost on the way: other orders lose other parts. */
static void fill_mixed_line(const tki_lines *v, int64_t l, tki_random *random)
{
    double large = ldexp(1, tki_smaller(tki_exponent_max_of(v->dtype) - 2, 18));
    for (int64_t t = 0; t < v->length; t++) {
        bool closing = t == v->length - 1 && large < 0;
        if (closing || (t < v->length - 1 && tki_random_u64(random) % 4 == 0)) {
            tki_line_put(v, l, t, large);
            large = -large;
            continue;
        }
        int exponent = (int)tki_random_below(random, 16) - 12;
        tki_line_put(v, l, t, tki_with_sign(random, ldexp(1 + tki_random_unit(random), exponent)));
    }
}

static void fill_mixed(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        if (v->first_input && !v->low_background) {
            fill_mixed_line(v, l, random);
            continue;
        }
        for (int64_t t = 0; t < v->length; t++) {
            int exponent = (int)tki_random_below(random, 24) - 12;
            exponent = v->low_background ? exponent / 4 : exponent;
            tki_line_put(v, l, t, tki_with_sign(random, ldexp(1 + tki_random_unit(random), exponent)));
        }
    }
}

static void fill_one_hot(const tki_lines *v, tki_random *random)
{
    if (!v->first_input) {
        tki_fill_normal(v, random);
        return;
    }
    for (int64_t l = 0; l < v->count; l++) {
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, tki_background(v));
        if (v->length > 0)
            tki_line_put(v, l, (int64_t)tki_random_below(random, (uint64_t)v->length), 1);
    }
}

static void fill_sorted(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        double first = tki_random_normal(random);
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, first + 8.0 * (double)t / (double)v->length);
    }
}

static void fill_constant_rows(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        double value = tki_random_normal(random) * 4;
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, value);
    }
}

static void fill_minus_inf(const tki_lines *v, tki_random *random)
{
    tki_fill_normal(v, random);
    if (!v->first_input)
        return;
    for (int64_t l = 0; l < v->count; l++) {
        uint64_t kind = tki_random_below(random, 3);
        for (int64_t t = 0; t < v->length && kind > 0; t++)
            if (kind == 1 || tki_random_u64(random) % 3 == 0)
                tki_line_put(v, l, t, -INFINITY);
    }
}

/* A skipped zero shows only where it meets an infinity, in a line with no other NaN: even lines have zeros, every
 * second of them nothing else, odd ones one infinity, so that each input's zeros meet the other's infinities. */
static void fill_zero_inf(const tki_lines *v, tki_random *random)
{
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        /* The other way round in the other inputs, for ops that pair line l with line l. */
        bool infinite = (l & 1) == v->first_input;
        for (int64_t t = 0; t < v->length && !infinite; t++)
            if (!(l & 2) || tki_random_u64(random) % 3 == 0)
                tki_line_put(v, l, t, tki_with_sign(random, 0.0));
        if (infinite) {
            int64_t place = (int64_t)tki_random_below(random, (uint64_t)v->length);
            tki_line_put(v, l, place, tki_with_sign(random, INFINITY));
        }
    }
}

/* Integers times one power of two, so small that their sum, or that of their products with a partner drawn likewise,
 * stays below 2^24 units: fp32 rounds no partial sum, in whatever order they are taken. Nothing is zero, so that
 * every term counts. */
void tki_fill_exact(const tki_lines *v, tki_random *random)
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
    if (tki_exponent_max_of(v->result) > 24 && length % 3 == 0)
        exponent = 0;
    /* In e4m3 most sums of long lines would. */
    const int factors = v->factors > 1 ? v->factors : 1;
    const double sum = sqrt((double)length) * pow((double)most, factors);
    while (tki_exponent_max_of(v->result) < 10 && ldexp(sum, factors * exponent) > 0x1p8)
        exponent--;
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double magnitude = ldexp((double)(1 + tki_random_below(random, (uint64_t)most)), exponent);
            bool here = kept == (uint64_t)length || tki_random_below(random, (uint64_t)length) < kept;
            tki_line_put(v, l, t, here ? tki_with_sign(random, magnitude) : 0);
        }
}

/* Up to 2^21 units, of which the products, drawn as above, leave room for, and up to 4, where gelu is neither 0 nor its argument. */
void tki_fill_exact_terms(const tki_lines *v, double unit, tki_random *random)
{
    const double most = fmin(4, 0x1p21 * unit);
    const double step = fmax(unit, ldexp(most, -v->format.precision));
    const uint64_t steps = most > step ? (uint64_t)(most / step) : 1;
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, tki_with_sign(random, step * (double)(1 + tki_random_below(random, steps))));
}

/* Two terms at any places: a number of the format, and half a unit in the result's last place and a hair. The
 * partners are one power of two along each line. */
static void fill_near_tie(const tki_lines *v, tki_random *random)
{
    const double own_place = tki_last_place_of(v->dtype);
    const uint64_t significands = UINT64_C(1) << (v->format.precision - 1);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        int exponent = (int)tki_random_below(random, 5) - 2;
        double value = tki_with_sign(random,
                                     ldexp(1 + own_place * (double)tki_random_below(random, significands), exponent));
        double half = ldexp(tki_last_place_of(v->result) / 2, exponent);
        double hair = half * own_place * (double)(1 + tki_random_below(random, 3));
        half = tki_random_u64(random) & 1 ? half + hair : half - hair / 2;
        half = tki_with_sign(random, half);
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, v->first_input ? 0 : copysign(ldexp(1, exponent), value));
        if (!v->first_input)
            continue;
        int64_t place = tki_any_place(v->length, random);
        int64_t other = tki_any_place(v->length, random);
        if (other == place)
            other = (place + 1) % v->length;
        tki_line_put(v, l, other, half);
        tki_line_put(v, l, place, value);
    }
}

/* Two products: one is a rounding midpoint whose even neighbour is the lower one, the other less than a unit in the
 * last place of fp32 and more than the bound of two fp32 products. A sum that is rounded goes up; one that is
 * truncated, as matrix units do, stays at the midpoint and goes down. */
static void fill_truncation(const tki_lines *v, tki_random *random)
{
    /* Below 1.75, where the bound would be as large as the second product. */
    const uint64_t most = tki_scales_of(v->dtype).truncation_steps;
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 1 && v->factors > 1; l++) {
        const double sign = tki_random_u64(random) & 1 ? 1 : -1;
        const double odd = (double)(3 + 4 * tki_random_below(random, most));
        for (int64_t t = 2; t < v->length && v->first_input; t++)
            tki_line_put(v, l, t, 0);
        tki_line_put(v, l, 0, v->first_input ? sign * 1.5 : 1 + odd * tki_last_place_of(v->dtype));
        tki_line_put(v, l, 1, v->first_input ? sign * 0x1.cp-12 : 0x1p-12);
    }
}

static void fill_one_sign(const tki_lines *v, tki_random *random)
{
    const double scale = v->first_input ? ldexp(1, (int)tki_random_below(random, 2)) : 1;
    const bool negative = tki_random_u64(random) & 1;
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            /* Less than the next power of two, which a kernel may have for a limit. */
            double value = scale * (1 + tki_random_unit(random) * (1 - tki_last_place_of(v->dtype)));
            tki_line_put(v, l, t, negative ? -value : value);
        }
}

/* The smallest normal numbers and below against the largest; every second line the other way round, where lines of
 * both meet. */
static void fill_far_apart(const tki_lines *v, tki_random *random)
{
    const int lowest = v->format.exponent_min - 4, highest = tki_exponent_max_of(v->dtype);
    const int depth = (int)tki_random_below(random, tki_scales_of(v->dtype).far_depth);
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            double value = tki_with_sign(random, 1 + 0.98 * tki_random_unit(random));
            int exponent = (int)tki_random_below(random, 6);
            tki_line_put(v, l, t, ldexp(value, v->first_input ? lowest + depth + exponent : highest - exponent));
        }
}

/* What is left out for being zero, or for being compared with NaN, shows where that meets the only NaN of a line. */
static void fill_zero_nan(const tki_lines *v, tki_random *random)
{
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        const int64_t place = tki_any_place(v->length, random);
        const bool nan = !v->first_input && tki_random_below(random, 3) == 0;
        for (int64_t t = 0; t < v->length && v->first_input; t++)
            if (tki_random_u64(random) & 1)
                tki_line_put(v, l, t, 0);
        if (nan)
            tki_line_put_bits(v, l, place, v->format.nan);
    }
}

/* One term of an odd number of halves of the smallest subnormal number; the partners are one power of two. */
static void fill_small_ties(const tki_lines *v, tki_random *random)
{
    /* Of wider results only if their factors are numbers of the format. */
    const bool reaches = tki_format_of(v->result).exponent_min == v->format.exponent_min;
    const tki_scales s = tki_scales_of(reaches ? v->result : v->dtype);
    const double partner = ldexp(1, s.tie_partner);
    const double unit = ldexp(1, s.tie_factor);
    const uint64_t most = tki_scales_of(v->dtype).tie_steps;
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        const double odd = (double)(2 * tki_random_below(random, most) + 1);
        const double value = tki_with_sign(random, odd * unit);
        const int64_t place = tki_any_place(v->length, random);
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, v->first_input ? (t == place ? value : 0) : partner);
    }
}

/* Partners are one power of two along a line, or what is huge would not cancel. */
static void fill_order(const tki_lines *v, tki_random *random)
{
    for (int64_t l = 0; l < v->count; l++) {
        double large = ldexp(1, tki_smaller(tki_exponent_max_of(v->dtype), 20));
        const double partner = ldexp(1, (int)tki_random_below(random, 3) - 2);
        for (int64_t t = 0; t < v->length; t++) {
            const bool closing = t == v->length - 1 && large < 0;
            const uint64_t draw = tki_random_u64(random);
            const int exponent = (int)tki_random_below(random, 12) - 12;
            const double small = tki_with_sign(random, ldexp(1 + tki_random_unit(random), exponent));
            const bool huge = closing || (t < v->length - 1 && draw % 4 == 0);
            tki_line_put(v, l, t, !v->first_input ? partner : huge ? large : small);
            large = huge ? -large : large;
        }
    }
}

static void fill_scaled_lines(const tki_lines *v, tki_random *random)
{
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count; l++) {
        const double scale = ldexp(1, (int)tki_random_below(random, 14) - 9);
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, scale * tki_decode(v->dtype, tki_line_bits(v, l, t)));
    }
}

static void fill_tail(const tki_lines *v, tki_random *random)
{
    enum { MOST_TERMS = 3, PLACES = 64 };
    tki_fill_normal(v, random);
    for (int64_t l = 0; l < v->count && v->length > 0 && v->first_input; l++) {
        const uint64_t places = (uint64_t)(v->length < PLACES ? v->length : PLACES);
        for (int64_t t = 0; t < v->length; t++)
            tki_line_put(v, l, t, tki_background(v));
        const int64_t anywhere = (int64_t)tki_random_below(random, (uint64_t)v->length);
        tki_line_put(v, l, anywhere, tki_random_normal(random));
        for (int i = 0; i < MOST_TERMS; i++) {
            const int64_t place = v->length - 1 - (int64_t)tki_random_below(random, places);
            tki_line_put(v, l, place, tki_random_normal(random));
        }
    }
}

/* In one input a 3 in each line beside ones, in the other nearly a tenth of the largest number there and a twelfth of it in all other
 * places: the sum is two fifths of that number, and 3 times it is none. */
static void fill_large_sums(const tki_lines *v, tki_random *random)
{
    enum { FACTORS = 2, HIGH = 3 };
    const double largest = tki_largest_of(v->dtype);
    const bool large = v->factors < FACTORS || v->turn % FACTORS == (uint64_t)v->input % FACTORS;
    for (int64_t l = 0; l < v->count; l++)
        for (int64_t t = 0; t < v->length; t++) {
            const bool high = t == l % v->length;
            const double part = (high ? 0.1 : 0.08 / (double)(v->length - 1)) * (1 - tki_random_unit(random) / 16);
            tki_line_put(v, l, t, !v->summed ? 1 : large ? part * largest : high ? HIGH : 1);
        }
}

/* Parts of the format that add up to `sum`, as long as there are places; the rest is zero. */
static void put_in_parts(const tki_lines *v, int64_t l, int64_t first, double sum)
{
    const double largest = tki_largest_of(v->dtype);
    for (int64_t i = 0; i < v->length; i++) {
        const double most = fmin(fabs(sum), largest);
        const double unit = most > 0 ? ldexp(1, ilogb(most) + 1 - v->format.precision) : 1;
        const double part = copysign(floor(most / unit) * unit, sum);
        tki_line_put(v, l, (first + i) % v->length, part);
        sum -= part;
    }
}

/* Line by line the largest number of the result and one of these shares of half a step above it, in terms that are exact and of one sign,
 * against partners that are one power of two. What is added to it is nothing, or half a step of fp16; gelu's derivative is 1/2 and 1 there. */
static void fill_overflow_edge(const tki_lines *v, tki_random *random)
{
    static const double shares[] = {0, 0.25, 0.5, 1 - 0x1p-6, 1 - 0x1p-10, 1, 1 + 0x1p-10, 1 + 0x1p-6, 1.25, 1.75};
    enum { FACTORS = 2, SHARES = sizeof shares / sizeof *shares };
    const double largest = tki_largest_of(v->result), own = tki_largest_of(v->dtype);
    const double half_step = ldexp(tki_last_place_of(v->result), tki_exponent_max_of(v->result) - 1);
    const bool large = v->factors < FACTORS || v->turn % FACTORS == (uint64_t)v->input % FACTORS;
    /* Where the product of two numbers does not come so far, the largest number of the inputs stands for it. */
    int partner = v->factors < FACTORS ? 0 : (int)(v->turn / FACTORS % 3);
    while (v->factors >= FACTORS && ldexp(own, partner) < largest && partner < tki_exponent_max_of(v->dtype))
        partner++;
    const bool reaches = largest <= ldexp(own, partner);
    for (int64_t l = 0; l < v->count && v->length > 0; l++) {
        const double sum = (reaches ? largest : own) + (reaches ? shares[l % SHARES] * half_step : 0);
        const int64_t first = (int64_t)tki_random_below(random, (uint64_t)v->length);
        for (int64_t t = 0; t < v->length && !(v->summed && large); t++)
            tki_line_put(v, l, t, v->summed ? ldexp(1, partner) : 16 * (double)tki_random_below(random, 2));
        if (v->summed && large)
            put_in_parts(v, l, first, ldexp(l / SHARES % 2 ? -sum : sum, -partner));
    }
}

bool tki_fill_sums(tki_family family, const tki_lines *v, tki_random *random)
{
    switch (family) {
    case TKI_FAMILY_CANCEL: fill_cancel(v, random); return true;
    case TKI_FAMILY_SWAMP: fill_swamp(v, random); return true;
    case TKI_FAMILY_FEW: fill_few(v, random); return true;
    case TKI_FAMILY_MIDPOINT: fill_midpoint(v, random); return true;
    case TKI_FAMILY_MIXED_EXPONENTS: fill_mixed(v, random); return true;
    case TKI_FAMILY_ONE_HOT: fill_one_hot(v, random); return true;
    case TKI_FAMILY_SORTED: fill_sorted(v, random); return true;
    case TKI_FAMILY_CONSTANT_ROWS: fill_constant_rows(v, random); return true;
    case TKI_FAMILY_MINUS_INF: fill_minus_inf(v, random); return true;
    case TKI_FAMILY_ZERO_INF: fill_zero_inf(v, random); return true;
    case TKI_FAMILY_EXACT: tki_fill_exact(v, random); return true;
    case TKI_FAMILY_NEAR_TIE: fill_near_tie(v, random); return true;
    case TKI_FAMILY_TRUNCATION: fill_truncation(v, random); return true;
    case TKI_FAMILY_ONE_SIGN: fill_one_sign(v, random); return true;
    case TKI_FAMILY_FAR_APART: fill_far_apart(v, random); return true;
    case TKI_FAMILY_ZERO_NAN: fill_zero_nan(v, random); return true;
    case TKI_FAMILY_SMALL_TIES: fill_small_ties(v, random); return true;
    case TKI_FAMILY_TAIL: fill_tail(v, random); return true;
    case TKI_FAMILY_ORDER: fill_order(v, random); return true;
    case TKI_FAMILY_SCALED_LINES: fill_scaled_lines(v, random); return true;
    case TKI_FAMILY_LARGE_SUMS: fill_large_sums(v, random); return true;
    case TKI_FAMILY_OVERFLOW_EDGE: fill_overflow_edge(v, random); return true;
    default: return false;
    }
}
