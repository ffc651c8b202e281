/* The trusted arithmetic (model/format.h, exact/round.c, exact/accumulator.c) against the definition of the formats by ldexp, against
 * MPFR's own rounding with the exponent range and subnormals of the format, and against MPFR sums wide enough to be
 * exact. Random inputs come from a fixed seed, printed at the start. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact/accumulator.h"
#include "exact/round.h"
#include "tests/unit_test.h"

enum { SEED = 20240611, RANDOM_CASES = 500000 };

typedef struct format {
    tk_dtype dtype;
    int precision;
    int exponent_min;
    int exponent_max;
    uint32_t sign;
    uint32_t largest;
    uint32_t overflow; /* what too large a value becomes: infinity, or NaN where there is none */
    uint32_t quiet_nan;
} format;

/* Written down a second time: all formats of floating point in the table of formats. */
static const format formats[] = {
    {TK_F16, 11, -14, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00},
    {TK_BF16, 8, -126, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0},
    {TK_F32, 24, -126, 127, 0x80000000, 0x7f7fffff, 0x7f800000, 0x7fc00000},
    {TK_F8_E4M3, 4, -6, 8, 0x80, 0x7e, 0x7f, 0x7f},
    {TK_F8_E5M2, 3, -14, 15, 0x80, 0x7b, 0x7c, 0x7e},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool has_infinity(const format *f)
{
    return f->overflow != f->quiet_nan;
}

static uint64_t random_state;

static uint64_t random_bits(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int random_below(int n)
{
    return (int)(random_bits() % (uint64_t)n);
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

enum { EDGE = 1000, EDGES = 4 * EDGE };

/* The patterns that are tried: all of up to 16 bits; of longer ones those at the edges, and random ones. */
static bool tried_in_full(const format *f)
{
    return tki_format_of(f->dtype).bits <= 16;
}

static int64_t pattern_count(const format *f)
{
    return tried_in_full(f) ? INT64_C(1) << tki_format_of(f->dtype).bits : EDGES + RANDOM_CASES;
}

static uint32_t pattern_at(const format *f, int64_t i)
{
    const uint32_t smallest_normal = UINT32_C(1) << (f->precision - 1);
    if (tried_in_full(f))
        return (uint32_t)i;
    if (i >= EDGES)
        return (uint32_t)random_bits();
    const uint32_t edges[] = {0, smallest_normal - EDGE / 2, f->largest - EDGE / 2, f->sign - EDGE};
    return (edges[i / EDGE] + (uint32_t)(i % EDGE)) | (i & 1 ? f->sign : 0);
}

/* The definition. The pattern after the largest finite value counts as the one that would follow. */
static double magnitude_by_definition(const format *f, uint32_t magnitude)
{
    const int64_t hidden = INT64_C(1) << (f->precision - 1);
    const int64_t field = magnitude / hidden, fraction = magnitude % hidden;
    if (field == 0)
        return ldexp((double)fraction, f->exponent_min - f->precision + 1);
    return ldexp((double)(hidden + fraction), f->exponent_min + (int)field - f->precision);
}

/* Between the finite pattern `magnitude` and the next. */
static double midpoint_after(const format *f, uint32_t magnitude)
{
    return (magnitude_by_definition(f, magnitude) + magnitude_by_definition(f, magnitude + 1)) / 2;
}

/* The pattern of a value that the format has, by bisection of the definition. */
static uint32_t pattern_of_member(const format *f, double value)
{
    const uint32_t sign = signbit(value) ? f->sign : 0;
    if (fabs(value) > magnitude_by_definition(f, f->largest))
        return sign | f->overflow;
    uint32_t low = 0, high = f->largest + 1;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (magnitude_by_definition(f, middle) <= fabs(value))
            low = middle;
        else
            high = middle;
    }
    if (magnitude_by_definition(f, low) != fabs(value))
        fail_msg("%a is no member of the format", value);
    return sign | low;
}

/* MPFR's rounding of a number: first to the precision, then to the exponent range and the subnormals. */
static uint32_t round_by_mpfr(const format *f, mpfr_srcptr value)
{
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t rounded;
    mpfr_init2(rounded, f->precision);
    int ternary = mpfr_set(rounded, value, MPFR_RNDN);
    mpfr_set_emin(f->exponent_min - f->precision + 2);
    mpfr_set_emax(f->exponent_max + 1);
    ternary = mpfr_check_range(rounded, ternary, MPFR_RNDN);
    mpfr_subnormalize(rounded, ternary, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    const double member = mpfr_get_d(rounded, MPFR_RNDN);
    mpfr_clear(rounded);
    return pattern_of_member(f, member);
}

static void check_mpfr(const format *f, mpfr_srcptr value)
{
    const uint32_t got = tki_round_mpfr(f->dtype, value), expected = round_by_mpfr(f, value);
    if (got != expected) {
        mpfr_printf("value %.50Re\n", value);
        fail_msg("tki_round_mpfr, dtype %d: 0x%x, not 0x%x", (int)f->dtype, got, expected);
    }
}

/* Both roundings of the double and of its negative. */
static void check_double(const format *f, double value)
{
    mpfr_t exact;
    mpfr_init2(exact, DBL_MANT_DIG);
    for (int negate = 0; negate < 2; negate++, value = -value) {
        mpfr_set_d(exact, value, MPFR_RNDN);
        const uint32_t got = tki_round_double(f->dtype, value), expected = round_by_mpfr(f, exact);
        if (got != expected) {
            fail_msg("tki_round_double, dtype %d, %a: 0x%x, not 0x%x", (int)f->dtype, value, got, expected);
        }
        check_mpfr(f, exact);
    }
    mpfr_clear(exact);
}

static void check_double_and_neighbours(const format *f, double value)
{
    check_double(f, value);
    check_double(f, nextafter(value, INFINITY));
    check_double(f, nextafter(value, -INFINITY));
}

/* ---- patterns ---- */

static void check_pattern(const format *f, uint32_t bits)
{
    const uint32_t magnitude = bits & ~f->sign;
    const double value = tki_decode(f->dtype, bits);
    const bool infinite = has_infinity(f) && magnitude == f->overflow, nan = magnitude > f->largest && !infinite;
    bool good = tki_is_nan(f->dtype, bits) == nan && tki_is_infinite(f->dtype, bits) == infinite &&
                tki_is_finite(f->dtype, bits) == (!nan && !infinite);
    if (nan)
        good = good && isnan(value) && tki_round_double(f->dtype, value) == f->quiet_nan;
    else {
        const double expected = infinite ? INFINITY : magnitude_by_definition(f, magnitude);
        good = good && fabs(value) == expected && (signbit(value) != 0) == ((bits & f->sign) != 0) &&
               tki_round_double(f->dtype, value) == bits;
    }
    if (!good)
        fail_msg("dtype %d, pattern 0x%x, decoded %a", (int)f->dtype, bits, value);
}

TEST(patterns_decode_by_definition)
{
    for (int i = 0; i < FORMATS; i++)
        for (int64_t n = 0; n < pattern_count(&formats[i]); n++)
            check_pattern(&formats[i], pattern_at(&formats[i], n));
    for (int i = 0; i < FORMATS; i++)
        assert_int_equal(tki_canonical_nan(formats[i].dtype), formats[i].quiet_nan);
}

static void check_format(const format *f)
{
    const tki_format has = tki_format_of(f->dtype);
    assert_int_equal(has.precision, f->precision);
    assert_int_equal(has.exponent_min, f->exponent_min);
    assert_int_equal(tki_format_exponent_max(has), f->exponent_max);
    assert_int_equal(tki_format_exponent_lowest(has), f->exponent_min - f->precision + 1);
    assert_int_equal(has.sign, f->sign);
    assert_int_equal(has.largest, f->largest);
    assert_int_equal(has.infinity, has_infinity(f) ? f->overflow : 0);
    assert_int_equal(has.nan, f->quiet_nan);
    assert_int_equal(has.sign, UINT32_C(1) << (has.bits - 1));
}

TEST(every_format_of_floating_point_is_tested)
{
    int found = 0;
    for (tk_dtype dtype = 0; tki_is_dtype(dtype); dtype++) {
        assert_int_equal(tk_dtype_size(dtype), tki_format_of(dtype).bits / 8);
        assert_string_equal(tk_dtype_name(dtype), tki_format_of(dtype).name);
        found += tki_format_of(dtype).number == TKI_FLOATING;
    }
    assert_int_equal(found, FORMATS);
    for (int i = 0; i < FORMATS; i++)
        check_format(&formats[i]);
    assert_int_equal(tk_dtype_size((tk_dtype)TKI_DTYPE_COUNT), 0);
    assert_string_equal(tk_dtype_name((tk_dtype)TKI_DTYPE_COUNT), "unknown");
}

/* A pattern that is put comes back and changes nothing beside it. */
TEST(elements_are_put_back)
{
    unsigned char bytes[64], expected[64];
    for (int i = 0; i < FORMATS; i++) {
        const tk_dtype dtype = formats[i].dtype;
        const size_t size = tk_dtype_size(dtype);
        for (int start = 0; start < 8; start++) {
            const uint32_t bits = (uint32_t)random_bits();
            memset(bytes, 0x5a, sizeof bytes);
            memset(expected, 0x5a, sizeof expected);
            memcpy(expected + (size_t)start + 3 * size, &bits, size); /* little-endian */
            tki_put_bits(dtype, bytes + start, 3, bits);
            assert_memory_equal(bytes, expected, sizeof bytes);
        }
    }
}

TEST(elements_are_read_at_any_alignment)
{
    unsigned char bytes[64];
    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    for (int start = 0; start < 8; start++) {
        for (int i = 0; i < 8; i++) {
            uint16_t half;
            uint32_t single;
            memcpy(&half, bytes + start + 2 * i, sizeof half);
            memcpy(&single, bytes + start + 4 * i, sizeof single);
            assert_int_equal(tki_element_bits(TK_F16, bytes + start, i), half);
            assert_int_equal(tki_element_bits(TK_BF16, bytes + start, i), half);
            assert_int_equal(tki_element_bits(TK_F32, bytes + start, i), single);
        }
    }
}

/* ---- 8 bits, by a definition that shares nothing with the above: fields as the OCP's specification has them ---- */

static double eight_bits_of(tk_dtype dtype, int code)
{
    const bool e4m3 = dtype == TK_F8_E4M3;
    const int field = e4m3 ? code >> 3 & 15 : code >> 2 & 31, fraction = e4m3 ? code & 7 : code & 3;
    const double unit = e4m3 ? 0x1p-9 : 0x1p-16; /* the smallest number */
    double value = fraction * unit;
    if (field > 0)
        value = ((e4m3 ? 8 : 4) + fraction) * unit * pow(2, field - 1);
    if (e4m3 ? field == 15 && fraction == 7 : field == 31)
        value = e4m3 || fraction ? NAN : INFINITY;
    return code & 0x80 ? -value : value;
}

/* The nearest of all codes, the even one of two; what would follow the largest is one of them. */
static int nearest_of_all(tk_dtype dtype, double value)
{
    const int largest = dtype == TK_F8_E4M3 ? 0x7e : 0x7b;
    const double following = dtype == TK_F8_E4M3 ? 480 : 65536;
    int best = 0;
    for (int code = 1; code <= largest + 1; code++) {
        const double number = code > largest ? following : eight_bits_of(dtype, code);
        const double kept = best > largest ? following : eight_bits_of(dtype, best);
        if (fabs(number - fabs(value)) < fabs(kept - fabs(value)) ||
            (fabs(number - fabs(value)) == fabs(kept - fabs(value)) && code % 2 == 0))
            best = code;
    }
    return best | (signbit(value) ? 0x80 : 0);
}

TEST(all_codes_of_8_bits_round_trip_and_borders_are_right_at_their_neighbours)
{
    for (tk_dtype dtype = TK_F8_E4M3; dtype <= TK_F8_E5M2; dtype++) {
        for (int code = 0; code < 256; code++) {
            const double value = eight_bits_of(dtype, code), decoded = tki_decode(dtype, (uint32_t)code);
            assert_true(isnan(value) ? isnan(decoded) : decoded == value && signbit(decoded) == signbit(value));
            assert_int_equal(tki_round_double(dtype, decoded),
                             isnan(value) ? (dtype == TK_F8_E4M3 ? 0x7f : 0x7e) : code);
        }
        const int largest = dtype == TK_F8_E4M3 ? 0x7e : 0x7b;
        for (int code = 0; code <= largest; code++) {
            const double next = code < largest ? eight_bits_of(dtype, code + 1) : dtype == TK_F8_E4M3 ? 480 : 65536;
            const float borders[] = {(float)eight_bits_of(dtype, code),
                                     (float)((eight_bits_of(dtype, code) + next) / 2), (float)next};
            for (int i = 0; i < 9; i++) {
                const float border = borders[i / 3];
                const float value = i % 3 == 0 ? border : nextafterf(border, i % 3 == 1 ? INFINITY : -INFINITY);
                assert_int_equal(tki_round_double(dtype, (double)value), nearest_of_all(dtype, (double)value));
                assert_int_equal(tki_round_double(dtype, -(double)value), nearest_of_all(dtype, -(double)value));
            }
        }
        assert_int_equal(tki_round_double(dtype, INFINITY), largest + 1);
        assert_int_equal(tki_round_double(dtype, -INFINITY), 0x80 | (largest + 1));
    }
}

/* ---- rounding ---- */

TEST(midpoints_and_members_round_like_mpfr)
{
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        const int64_t count = tried_in_full(f) ? pattern_count(f) : EDGES + RANDOM_CASES / 10;
        for (int64_t n = 0; n < count; n++) {
            const uint32_t bits = pattern_at(f, n);
            if (bits > f->largest)
                continue;
            check_double_and_neighbours(f, magnitude_by_definition(f, bits));
            check_double_and_neighbours(f, midpoint_after(f, bits));
        }
    }
}

TEST(doubles_round_like_mpfr)
{
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        for (int n = 0; n < effort(RANDOM_CASES); n++) {
            const double any = double_of(random_bits());
            if (isfinite(any))
                check_double(f, any);
            /* Exponents around the format's range, few significand bits: near ties at every place. */
            const int span = f->exponent_max - f->exponent_min + f->precision + 8;
            const uint64_t field = (uint64_t)(1023 + f->exponent_min - f->precision - 4 + random_below(span));
            const uint64_t sparse = random_bits() & random_bits() & random_bits() & random_bits();
            check_double(f, double_of(field << 52 | sparse >> 12));
        }
        for (int power = -1074; power < 1024; power++)
            check_double_and_neighbours(f, ldexp(1, power));
        for (int n = 0; n < effort(1000); n++)
            check_double(f, double_of(random_bits() >> 12)); /* subnormal doubles */
        check_double(f, 0.0);
        check_double(f, DBL_MAX);
        check_double(f, INFINITY);
        assert_int_equal(tki_round_double(f->dtype, NAN), f->quiet_nan);
        assert_int_equal(tki_round_double(f->dtype, -NAN), f->quiet_nan);
    }
}

/* A number is nudged off a midpoint by 2^-2000, far below the reach of any double. */
TEST(mpfr_values_round_once)
{
    mpfr_t value, nudge;
    mpfr_init2(value, 2200); /* 2^128 + 2^-2000 fits */
    mpfr_init2(nudge, 2);
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        const int64_t cases = tried_in_full(f) ? pattern_count(f) : 50000;
        for (int64_t n = 0; n < cases; n++) {
            const uint32_t magnitude = pattern_at(f, n) & ~f->sign;
            if (magnitude > f->largest)
                continue;
            const uint32_t next = magnitude < f->largest ? magnitude + 1 : f->overflow;
            const uint32_t even = magnitude % 2 ? next : magnitude;
            const double midpoint = midpoint_after(f, magnitude);
            for (int direction = -1; direction <= 1; direction++) {
                const uint32_t expected = direction == 0 ? even : direction > 0 ? next : magnitude;
                mpfr_set_d(value, midpoint, MPFR_RNDN);
                mpfr_set_si_2exp(nudge, direction, -2000, MPFR_RNDN);
                if (mpfr_add(value, value, nudge, MPFR_RNDN) != 0)
                    fail_msg("the nudge was rounded away");
                if (tki_round_mpfr(f->dtype, value) != expected) {
                    fail_msg("dtype %d, midpoint %a %+d nudge", (int)f->dtype, midpoint, direction);
                }
                mpfr_neg(value, value, MPFR_RNDN);
                if (tki_round_mpfr(f->dtype, value) != (expected | f->sign)) {
                    fail_msg("dtype %d, midpoint %a %+d nudge, negated", (int)f->dtype, midpoint, direction);
                }
            }
        }
    }
    mpfr_clear(nudge);
    mpfr_clear(value);
}

TEST(mpfr_values_of_any_size_and_precision)
{
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        for (int n = 0; n < RANDOM_CASES / 5; n++) {
            static const int precisions[] = {1, 2, 5, 8, 9, 11, 12, 24, 25, 52, 53, 54, 64, 65, 128, 300};
            const int precision = precisions[random_below(16)];
            const int reach = n % 4 == 0 ? 6000 : n % 4 == 1 ? 200 : 30;
            const uint64_t sparse = random_bits() & random_bits();
            mpfr_t value, tail;
            mpfr_init2(value, precision);
            mpfr_init2(tail, 64);
            const mpfr_exp_t scale = random_below(2 * reach) - reach;
            mpfr_set_ui_2exp(value, (unsigned long)(random_bits() >> 40), scale - 24, MPFR_RNDN);
            mpfr_set_ui_2exp(tail, (unsigned long)sparse, scale - 90, MPFR_RNDN);
            mpfr_add(value, value, tail, MPFR_RNDZ);
            if (n % 2 != 0)
                mpfr_neg(value, value, MPFR_RNDN);
            check_mpfr(f, value);
            mpfr_clear(tail);
            mpfr_clear(value);
        }
        mpfr_t special;
        mpfr_init2(special, 40);
        for (int negative = 0; negative < 2; negative++) {
            mpfr_set_zero(special, negative ? -1 : 1);
            assert_int_equal(tki_round_mpfr(f->dtype, special), negative ? f->sign : 0);
            mpfr_set_inf(special, negative ? -1 : 1);
            assert_int_equal(tki_round_mpfr(f->dtype, special), f->overflow | (negative ? f->sign : 0));
        }
        mpfr_set_nan(special);
        assert_int_equal(tki_round_mpfr(f->dtype, special), f->quiet_nan);
        mpfr_clear(special);
    }
}

/* ---- intervals, spacing, neighbours ---- */

static bool rounds_to(const format *f, double value, uint32_t bits)
{
    const uint32_t rounded = tki_round_double(f->dtype, value);
    return rounded == bits || ((rounded | bits) & ~f->sign) == 0;
}

static void check_interval(const format *f, uint32_t bits)
{
    if (tki_is_nan(f->dtype, bits))
        return;
    double below, above;
    tki_rounding_interval(f->dtype, bits, &below, &above);
    const bool even = bits % 2 == 0;
    const double value = tki_decode(f->dtype, bits);
    bool good = below < above && below <= value && value <= above;
    if (isinf(below))
        good = good && value == -INFINITY;
    else {
        good = good && rounds_to(f, below, bits) == even && rounds_to(f, nextafter(below, INFINITY), bits) &&
               !rounds_to(f, nextafter(below, -INFINITY), bits);
    }
    if (isinf(above))
        good = good && value == INFINITY;
    else {
        good = good && rounds_to(f, above, bits) == even && rounds_to(f, nextafter(above, -INFINITY), bits) &&
               !rounds_to(f, nextafter(above, INFINITY), bits);
    }
    if (!good)
        fail_msg("dtype %d, pattern 0x%x: interval %a .. %a", (int)f->dtype, bits, below, above);
}

TEST(rounding_intervals_agree_with_rounding)
{
    for (int i = 0; i < FORMATS; i++)
        for (int64_t n = 0; n < pattern_count(&formats[i]); n++)
            check_interval(&formats[i], pattern_at(&formats[i], n));

    double below, above;
    tki_rounding_interval(TK_F16, 0x7bff, &below, &above);
    assert_true(below == 65488 && above == 65520);
    tki_rounding_interval(TK_F16, 0xfc00, &below, &above);
    assert_true(below == -INFINITY && above == -65520);
    tki_rounding_interval(TK_BF16, 0x8000, &below, &above);
    assert_true(below == -0x1p-134 && above == 0x1p-134);
    tki_rounding_interval(TK_F32, 0x7f7fffff, &below, &above);
    assert_true(above == ldexp(1 - 0x1p-25, 128));
}

TEST(ulp_is_the_spacing)
{
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        const double smallest = ldexp(1, f->exponent_min - f->precision + 1);
        assert_true(tki_ulp(f->dtype, 0.0) == smallest);
        assert_true(tki_ulp(f->dtype, -0.0) == smallest);
        assert_true(tki_ulp(f->dtype, 0x1p-1074) == smallest);
        assert_true(tki_ulp(f->dtype, ldexp(1, f->exponent_min)) == smallest);
        assert_true(tki_ulp(f->dtype, 1.0) == ldexp(1, 1 - f->precision));
        for (int n = 0; n < effort(RANDOM_CASES); n++) {
            const double value = double_of(random_bits());
            if (!isfinite(value) || value == 0)
                continue;
            int exponent = ilogb(value);
            if (exponent < f->exponent_min)
                exponent = f->exponent_min;
            if (tki_ulp(f->dtype, value) != ldexp(1, exponent - f->precision + 1))
                fail_msg("ulp at %a", value);
        }
        for (int n = 0; n < effort(RANDOM_CASES); n++) {
            const uint32_t magnitude = (uint32_t)(random_bits() % f->largest);
            const double value = tki_decode(f->dtype, magnitude), next = tki_decode(f->dtype, magnitude + 1);
            if (tki_ulp(f->dtype, -value) != next - value)
                fail_msg("ulp at %a", value);
        }
    }
}

TEST(down_and_up_are_the_next_doubles)
{
    const double edges[] = {0.0, -0.0, 0x1p-1074, -0x1p-1074, DBL_MIN, -DBL_MIN, DBL_MAX, -DBL_MAX, 1, -1};
    for (int i = 0; i < RANDOM_CASES; i++) {
        const double value = i < 10 ? edges[i] : double_of(random_bits());
        if (!isfinite(value))
            continue;
        if (tki_up(value) != nextafter(value, INFINITY))
            fail_msg("above %a", value);
        if (tki_down(value) != nextafter(value, -INFINITY))
            fail_msg("below %a", value);
    }
    assert_true(tki_up(INFINITY) == INFINITY && tki_down(INFINITY) == INFINITY);
    assert_true(tki_up(-INFINITY) == -INFINITY && tki_down(-INFINITY) == -INFINITY);
    assert_true(isnan(tki_up(NAN)) && isnan(tki_down(NAN)));
}

/* ---- accumulator ---- */

static uint32_t random_finite(const format *f)
{
    const uint32_t sign = random_bits() % 2 != 0 ? f->sign : 0;
    switch (random_below(8)) {
    case 0: return sign | (uint32_t)random_below(4);                       /* zero and the smallest */
    case 1: return sign | (f->largest - (uint32_t)random_below(4));        /* the largest */
    case 2: return sign | (uint32_t)random_below(1 << (f->precision - 1)); /* subnormal */
    default: return sign | (uint32_t)random_below((int)f->largest + 1);
    }
}

/* The accumulator beside an MPFR sum, whose every step is checked to be exact. */
typedef struct twin_sum {
    tki_accumulator sum;
    mpfr_t expected;
} twin_sum;

static void twin_add(twin_sum *twin, const format *f, uint32_t a, uint32_t b)
{
    mpfr_t product;
    mpfr_init2(product, 64);
    mpfr_set_d(product, tki_decode(f->dtype, a), MPFR_RNDN);
    int inexact = mpfr_mul_d(product, product, tki_decode(f->dtype, b), MPFR_RNDN);
    inexact |= mpfr_add(twin->expected, twin->expected, product, MPFR_RNDN);
    mpfr_clear(product);
    if (inexact)
        fail_msg("the reference sum was rounded");
    tki_accumulator_add_product(&twin->sum, f->dtype, a, f->dtype, b);
}

static void twin_check(const twin_sum *twin)
{
    mpfr_t value;
    mpfr_init2(value, TKI_ACCUMULATOR_BITS);
    tki_accumulator_get(&twin->sum, value);
    if (!mpfr_equal_p(value, twin->expected)) {
        mpfr_printf("sum %.80Re\nnot %.80Re\n", value, twin->expected);
        fail_msg("accumulator differs from the exact sum");
    }
    mpfr_clear(value);
}

TEST(accumulated_products_are_exact)
{
    twin_sum twin;
    mpfr_init2(twin.expected, TKI_ACCUMULATOR_BITS);
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        for (int round = 0; round < effort(1000); round++) {
            tki_accumulator_clear(&twin.sum);
            mpfr_set_zero(twin.expected, 1);
            uint32_t a[100], b[100];
            for (int n = 0; n < 100; n++) {
                a[n] = random_finite(f);
                b[n] = random_finite(f);
                twin_add(&twin, f, a[n], b[n]);
                twin_check(&twin);
            }
            /* Back to zero, the operands swapped; sums of either sign end there. */
            for (int n = 0; n < 100; n++) {
                twin_add(&twin, f, b[n] ^ f->sign, a[n]);
                if (n % 10 == 0)
                    twin_check(&twin);
            }
            assert_true(mpfr_zero_p(twin.expected));
            twin_check(&twin);
        }
    }
    mpfr_clear(twin.expected);
}

/* The smallest steps around zero send carries and borrows through every word. */
TEST(accumulator_crosses_zero)
{
    twin_sum twin;
    mpfr_init2(twin.expected, TKI_ACCUMULATOR_BITS);
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        const uint32_t smallest = 1, largest = f->largest;
        tki_accumulator_clear(&twin.sum);
        mpfr_set_zero(twin.expected, 1);
        for (int n = 0; n < 1000; n++) {
            twin_add(&twin, f, smallest | (n % 4 < 2 ? f->sign : 0), smallest);
            twin_check(&twin);
        }
        for (int n = 0; n < 1000; n++) {
            twin_add(&twin, f, largest, largest | (n % 2 ? f->sign : 0));
            twin_add(&twin, f, smallest | f->sign, smallest);
            twin_check(&twin);
        }
        for (int n = 0; n < 1000; n++) {
            twin_add(&twin, f, largest | f->sign, largest);
            twin_check(&twin);
        }
        twin_add(&twin, f, f->sign, largest); /* a negative zero */
        twin_check(&twin);
    }
    mpfr_clear(twin.expected);
}

TEST(accumulated_elements_are_exact)
{
    twin_sum twin;
    mpfr_init2(twin.expected, TKI_ACCUMULATOR_BITS);
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        tki_accumulator_clear(&twin.sum);
        mpfr_set_zero(twin.expected, 1);
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            /* An odd multiplier permutes the patterns, mixing signs and sizes; of fp32 a part that has every exponent. */
            const uint32_t pattern = f->dtype == TK_F32 ? bits * 2654435769u : bits * 40503 & 0xffff;
            if (!tki_is_finite(f->dtype, pattern))
                continue;
            tki_accumulator_add(&twin.sum, f->dtype, pattern);
            const double value = tki_decode(f->dtype, pattern);
            const int inexact = mpfr_add_d(twin.expected, twin.expected, value, MPFR_RNDN);
            if (inexact)
                fail_msg("the reference sum was rounded");
            twin_check(&twin);
        }
        assert_true(f->dtype == TK_F32 || mpfr_zero_p(twin.expected));
    }
    mpfr_clear(twin.expected);
}

static int seed_random(void **state)
{
    (void)state;
    random_state = SEED;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_format_of_floating_point_is_tested, seed_random),
        cmocka_unit_test_setup(elements_are_put_back, seed_random),
        cmocka_unit_test_setup(patterns_decode_by_definition, seed_random),
        cmocka_unit_test_setup(elements_are_read_at_any_alignment, seed_random),
        cmocka_unit_test_setup(all_codes_of_8_bits_round_trip_and_borders_are_right_at_their_neighbours, seed_random),
        cmocka_unit_test_setup(midpoints_and_members_round_like_mpfr, seed_random),
        cmocka_unit_test_setup(doubles_round_like_mpfr, seed_random),
        cmocka_unit_test_setup(mpfr_values_round_once, seed_random),
        cmocka_unit_test_setup(mpfr_values_of_any_size_and_precision, seed_random),
        cmocka_unit_test_setup(rounding_intervals_agree_with_rounding, seed_random),
        cmocka_unit_test_setup(ulp_is_the_spacing, seed_random),
        cmocka_unit_test_setup(down_and_up_are_the_next_doubles, seed_random),
        cmocka_unit_test_setup(accumulated_products_are_exact, seed_random),
        cmocka_unit_test_setup(accumulator_crosses_zero, seed_random),
        cmocka_unit_test_setup(accumulated_elements_are_exact, seed_random),
    };
    printf("seed %d\n", SEED);
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    mpfr_free_cache();
    return failures;
}
