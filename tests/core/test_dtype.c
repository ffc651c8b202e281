/* The conversions of kernels (core/dtype.h), exhaustively: all 2^16 patterns of each format, all 2^32 floats to each.
 * The reference is the definition. The values of a format are listed in increasing order with the midpoints between
 * them, exact in double; the floats are walked in increasing order, and the place in the list moves on when a
 * midpoint is passed, or is met and the even neighbour lies ahead. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "tests/unit_test.h"

typedef struct format {
    int fraction_bits;
    int exponent_min;
    uint32_t infinity;
    float (*widen)(uint16_t);
    void (*narrow_block)(const float *, uint16_t *);
} format;

/* Long enough for vector code, and known at compile time so that -O2 makes it too. */
enum { BLOCK = 4096 };

static void narrow_block_to_f16(const float *x /* [BLOCK] */, uint16_t *y /* [BLOCK] */)
{
    for (int i = 0; i < BLOCK; i++)
        y[i] = tki_f32_to_f16(x[i]);
}

static void narrow_block_to_bf16(const float *x /* [BLOCK] */, uint16_t *y /* [BLOCK] */)
{
    for (int i = 0; i < BLOCK; i++)
        y[i] = tki_f32_to_bf16(x[i]);
}

static const format f16 = {10, -14, 0x7c00, tki_f16_to_f32, narrow_block_to_f16};
static const format bf16 = {7, -126, 0x7f80, tki_bf16_to_f32, narrow_block_to_bf16};

/* The value of a non-negative pattern; that of infinity counts as the next power of two. */
static double value_of(const format *f, uint32_t magnitude)
{
    const int hidden = 1 << f->fraction_bits;
    const int field = (int)magnitude / hidden;
    const int fraction = (int)magnitude % hidden;
    if (field == 0)
        return ldexp(fraction, f->exponent_min - f->fraction_bits);
    return ldexp(hidden + fraction, f->exponent_min + field - 1 - f->fraction_bits);
}

static uint32_t pattern_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void check_widening(const format *f)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const uint32_t magnitude = bits & 0x7fff;
        const bool negative = bits > 0x7fff;
        const float value = f->widen((uint16_t)bits);
        bool good = (signbit(value) != 0) == negative;
        if (magnitude > f->infinity)
            good = good && isnan(value);
        else if (magnitude == f->infinity)
            good = good && isinf(value);
        else
            good = good && fabs((double)value) == value_of(f, magnitude);
        if (!good)
            fail_msg("0x%04x became %a", bits, (double)value);
    }
}

/* Converts BLOCK floats from pattern `first` on and returns how many went wrong, naming the first. `place` is any
 * pattern not past the first result, and the last result on return; `midpoint[i]` lies between i and i + 1. */
static int64_t check_block(const format *f, const double *midpoint, uint32_t first, uint32_t *place, uint32_t *wrong)
{
    float x[BLOCK], negative_x[BLOCK];
    uint16_t y[BLOCK], negative_y[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++) {
        const uint32_t bits = first + i, negative_bits = bits | 0x80000000u;
        memcpy(&x[i], &bits, sizeof bits);
        memcpy(&negative_x[i], &negative_bits, sizeof bits);
    }
    f->narrow_block(x, y);
    f->narrow_block(negative_x, negative_y);

    int64_t failures = 0;
    uint32_t at = *place;
    const uint32_t quiet = 1u << (f->fraction_bits - 1);
    for (uint32_t i = 0; i < BLOCK; i++) {
        bool good;
        if (first + i > 0x7f800000u) {
            good = y[i] > f->infinity && y[i] < 0x8000 && (y[i] & quiet) != 0 && negative_y[i] == (y[i] | 0x8000);
        } else {
            const double value = (double)x[i];
            while (value > midpoint[at] || (value == midpoint[at] && at % 2 != 0))
                at++;
            good = y[i] == at && negative_y[i] == (at | 0x8000);
        }
        if (!good && failures++ == 0)
            *wrong = first + i;
    }
    *place = at;
    return failures;
}

/* Sanitizers find in one block of sixteen what they find in all; builds without them convert every float. */
#if defined(__SANITIZE_ADDRESS__)
enum { BLOCK_STEP = 16 };
#else
enum { BLOCK_STEP = 1 };
#endif

static void check_narrowing(const format *f)
{
    double *midpoint = malloc((f->infinity + 1) * sizeof *midpoint);
    assert_non_null(midpoint);
    for (uint32_t i = 0; i < f->infinity; i++)
        midpoint[i] = (value_of(f, i) + value_of(f, i + 1)) / 2;
    midpoint[f->infinity] = INFINITY; /* never passed, and its place is even */

    const int64_t blocks_per_chunk = 512, chunks = (INT64_C(1) << 31) / BLOCK / blocks_per_chunk;
    int64_t failures = 0;
    uint32_t wrong = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : failures)
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        uint32_t place = 0;
        for (int64_t block = chunk * blocks_per_chunk + chunk % BLOCK_STEP; block < (chunk + 1) * blocks_per_chunk;
             block += BLOCK_STEP) {
            uint32_t first_wrong = 0;
            const int64_t found = check_block(f, midpoint, (uint32_t)(block * BLOCK), &place, &first_wrong);
            failures += found;
            if (found != 0) {
#pragma omp atomic write
                wrong = first_wrong;
            }
        }
    }
    free(midpoint);
    if (failures != 0)
        fail_msg("%lld magnitudes converted wrongly, such as 0x%08x", (long long)failures, wrong);
}

TEST(f16_widens_exactly)
{
    check_widening(&f16);
}

TEST(bf16_widens_exactly)
{
    check_widening(&bf16);
}

TEST(every_float_rounds_to_f16)
{
    check_narrowing(&f16);
}

TEST(every_float_rounds_to_bf16)
{
    check_narrowing(&bf16);
}

/* A few results written out by hand, in case reference and conversion err alike. */
TEST(known_values)
{
    assert_int_equal(tki_f32_to_f16(1.0f), 0x3c00);
    assert_int_equal(tki_f32_to_f16(-2.0f), 0xc000);
    assert_int_equal(tki_f32_to_f16(65519.996f), 0x7bff);
    assert_int_equal(tki_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(tki_f32_to_f16(0x1p-24f), 0x0001);
    assert_int_equal(tki_f32_to_f16(0x1p-25f), 0x0000);
    assert_int_equal(tki_f32_to_f16(-0x1.000002p-25f), 0x8001);
    assert_int_equal(tki_f32_to_f16(tki_f32_from_bits(0x7f800001)), 0x7e00);
    assert_int_equal(tki_f32_to_bf16(1.0f), 0x3f80);
    assert_int_equal(tki_f32_to_bf16(0x1.01p0f), 0x3f80);
    assert_int_equal(tki_f32_to_bf16(0x1.03p0f), 0x3f82);
    assert_int_equal(tki_f32_to_bf16(0x1.fffffep127f), 0x7f80);
    assert_int_equal(tki_f32_to_bf16(tki_f32_from_bits(0xff800001)), 0xffc0);
    assert_int_equal(tki_f32_to_bf16(tki_f32_from_bits(0x7fffffff)), 0x7fff);
    assert_int_equal(pattern_of(tki_f16_to_f32(0x7bff)), 0x477fe000);
    assert_int_equal(pattern_of(tki_f16_to_f32(0x8001)), 0xb3800000);
    assert_int_equal(pattern_of(tki_bf16_to_f32(0x0001)), 0x00010000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(f16_widens_exactly),
        cmocka_unit_test(bf16_widens_exactly),
        cmocka_unit_test(every_float_rounds_to_f16),
        cmocka_unit_test(every_float_rounds_to_bf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
