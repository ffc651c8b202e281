/* What families mean in fp32, and for fp32 results of 16-bit inputs: that what each of them is for is in what it
 * draws. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/round.h"
#include "model/attributes.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"
#include "trials/families.h"
#include "trials/levels.h"

#define IN(called, a, b, inner)                                                                            \
    {                                                                                                      \
        .name = called, .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){a, b}, .inner_axis = inner, \
        .may_alias = -1                                                                                    \
    }
#define OUT                                                                                               \
    {                                                                                                     \
        .name = "c", .output = true, .kind = TK_KIND_RESULT, .rank = 2, .dim = (const int[]){0, 1}, APART \
    }

enum { ROWS = 40, COLS = 3, INNER = 50, TERMS = ROWS * INNER };

static const tk_contract product = {.name = "product",
                                    TKI_TYPES_SUM,
                                    .dim_count = 3,
                                    .dim_names = (const char *const[]){"m", "n", "k"},
                                    .param_count = 3,
                                    .params = (const tk_param[]){IN("a", 0, 2, 1), IN("b", 1, 2, 1), OUT}};

static const tk_contract element = {
    .name = "element",
    TKI_TYPES_SUM,
    .dim_count = 1,
    .dim_names = (const char *const[]){"n"},
    .param_count = 2,
    .params = (const tk_param[]){{.name = "x", .rank = 1, .dim = (const int[]){0}, APART},
                                 {.name = "y",
                                  .output = true,
                                  .kind = TK_KIND_RESULT,
                                  .rank = 1,
                                  .dim = (const int[]){0},
                                  .may_alias = -1}},
    .elementwise = true};

/* Both factors of a product as numbers. */
typedef struct factors {
    double a[ROWS][INNER], b[COLS][INNER];
    uint32_t bits[ROWS][INNER]; /* of a */
} factors;

static void draw(factors *f, tk_types types, const char *family, uint64_t seed)
{
    tk_case c = tk_case_init(&product, types.dtype);
    _Alignas(8) unsigned char a[TERMS * 4], b[COLS * INNER * 4];
    c.result_dtype = types.result_dtype;
    c.dims[0] = ROWS;
    c.dims[1] = COLS;
    c.dims[2] = INNER;
    assert_true(tki_family_find(family) >= 0);
    tki_family_fill(tki_family_find(family), &c, seed, (void *[TK_MAX_PARAMS]){a, b});
    for (int i = 0; i < TERMS; i++) {
        f->bits[i / INNER][i % INNER] = tki_element_bits(types.dtype, a, i);
        f->a[i / INNER][i % INNER] = tki_decode(types.dtype, tki_element_bits(types.dtype, a, i));
    }
    for (int i = 0; i < COLS * INNER; i++)
        f->b[i / INNER][i % INNER] = tki_decode(types.dtype, tki_element_bits(types.dtype, b, i));
}

static const tk_types f32 = {TK_F32, TK_F32}, f16_f32 = {TK_F16, TK_F32}, bf16_f32 = {TK_BF16, TK_F32};

/* How many of the terms satisfy it. */
typedef bool (*property)(double value, uint32_t bits);

static int count(const factors *f, property has)
{
    int found = 0;
    for (int i = 0; i < TERMS; i++)
        found += has(f->a[i / INNER][i % INNER], f->bits[i / INNER][i % INNER]);
    return found;
}

static bool is_subnormal(double value, uint32_t bits)
{
    (void)bits;
    return value != 0 && fabs(value) < FLT_MIN;
}

static bool is_nearly_largest(double value, uint32_t bits)
{
    (void)bits;
    return fabs(value) > (double)FLT_MAX / 2 && isfinite(value);
}

static bool is_largest(double value, uint32_t bits)
{
    (void)bits;
    return fabs(value) == (double)FLT_MAX;
}

/* A number that 16 bits do not hold. */
static bool has_lower_half(double value, uint32_t bits)
{
    return isfinite(value) && (bits & 0xffff) != 0;
}

static bool is_nan(double value, uint32_t bits)
{
    (void)bits;
    return isnan(value);
}

TEST(numbers_are_of_fp32)
{
    static const struct {
        const char *family;
        property has;
        int least, most;
    } rows[] = {{"normal", has_lower_half, 1990, TERMS},
                {"subnormal", is_subnormal, 1200, 1800},
                {"huge", is_nearly_largest, 1000, TERMS},
                {"huge", is_largest, 300, 700},
                {"bits", is_nan, 1, 30},
                {"finite_bits", is_nan, 0, 0},
                {"finite_bits", has_lower_half, 1900, TERMS},
                {"special", is_nan, 1, TERMS},
                {"small_among", is_subnormal, 100, 900},
                {"log_uniform", has_lower_half, 1900, TERMS},
                {"scaled_lines", has_lower_half, 1900, TERMS},
                {"order", has_lower_half, 1300, TERMS}};
    static factors f;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        draw(&f, f32, rows[i].family, 5);
        const int found = count(&f, rows[i].has);
        if (found < rows[i].least || found > rows[i].most)
            fail_msg("row %zu, %s: %d of %d", i, rows[i].family, found, TERMS);
    }
}

/* Sums with the largest number that just overflow, or just do not: half a unit in its last place decides. */
TEST(huge_terms_reach_the_end_of_the_format)
{
    static factors f;
    int halves = 0;
    draw(&f, f32, "huge", 9);
    for (int i = 0; i < TERMS; i++) {
        const double size = fabs(f.a[i / INNER][i % INNER]) / 0x1p103; /* half a unit */
        halves += size >= 0.9 && size <= 2;
    }
    assert_true(halves > 200);
}

/* The first two terms meet at a midpoint of fp32, the last one may push them off it. */
TEST(midpoints_are_of_the_result)
{
    static factors f;
    const tk_types all[] = {f32, bf16_f32};
    for (int i = 0; i < 2; i++) {
        int nudged = 0;
        draw(&f, all[i], "midpoint", 3);
        for (int l = 0; l < ROWS; l++) {
            const double sum = f.a[l][0] + f.a[l][1];
            const double units = sum / tki_ulp(TK_F32, sum);
            assert_true(units - floor(units) == 0.5);
            assert_true(fabs(f.a[l][INNER - 1]) <= 0x1p-46);
            nudged += f.a[l][INNER - 1] != 0;
        }
        assert_true(nudged > ROWS / 3);
    }
    draw(&f, f16_f32, "midpoint", 3);
    for (int l = 0; l < ROWS; l++)
        assert_true(f.a[l][1] == 0x1p-24); /* the smallest fp16 number */
}

TEST(near_ties_are_near_in_fp32)
{
    static factors f;
    int above = 0;
    draw(&f, f32, "near_tie", 4);
    for (int l = 0; l < ROWS; l++) {
        double sum = 0;
        for (int t = 0; t < INNER; t++)
            sum += f.a[l][t] *
                   f.b[0][t]; /* two terms, of 24 bits each and 2^48 apart at most: exact enough to see the hair */
        const double units = fabs(sum) / tki_ulp(TK_F32, sum);
        const double from_tie = units - floor(units) - 0.5;
        assert_true(fabs(from_tie) < 0x1p-18);
        above += from_tie > 0;
    }
    assert_true(above > 4 && above < ROWS - 4);
}

/* All products, and all their sums, are multiples of one unit below 2^24 of it. */
TEST(exact_sums_are_exact_in_fp32)
{
    static factors f;
    const tk_types all[] = {f32, f16_f32, bf16_f32};
    for (int i = 0; i < 3; i++) {
        draw(&f, all[i], "exact", 6);
        for (int l = 0; l < ROWS; l++) {
            double magnitude = 0, unit = INFINITY;
            for (int t = 0; t < INNER; t++) {
                const double term = fabs(f.a[l][t] * f.b[1][t]);
                int exponent;
                double odd = frexp(term, &exponent) * 0x1p53;
                assert_true(term > 0);
                for (exponent -= 53; fmod(odd, 2) == 0; odd /= 2)
                    exponent++;
                unit = fmin(unit, ldexp(1, exponent));
                magnitude += term;
            }
            assert_true(magnitude <= 0x1p24 * unit);
        }
    }
}

/* Half of the smallest subnormal number of fp32, odd times. */
TEST(small_ties_are_of_fp32)
{
    static factors f;
    const tk_types all[] = {f32, bf16_f32};
    for (int i = 0; i < 2; i++) {
        draw(&f, all[i], "small_ties", 8);
        for (int l = 0; l < ROWS; l++) {
            double sum = 0;
            for (int t = 0; t < INNER; t++)
                sum += f.a[l][t] * f.b[2][t];
            const double units = fabs(sum) / 0x1p-149;
            assert_true(units - floor(units) == 0.5);
        }
    }
}

/* Each upper half once in 65536 elements; lower halves of every kind. */
TEST(upper_halves_all_come)
{
    enum { COUNT = 1 << 16 };
    tk_case c = tk_case_init(&element, TK_F32);
    uint32_t *x = malloc(COUNT * sizeof *x);
    bool *seen = calloc(COUNT, sizeof *seen);
    int zeros = 0, ones = 0;
    assert_true(x && seen);
    c.dims[0] = COUNT;
    tki_family_fill(tki_family_find("each_pattern"), &c, 2, (void *[TK_MAX_PARAMS]){x});
    for (int i = 0; i < COUNT; i++) {
        assert_false(seen[x[i] >> 16]);
        seen[x[i] >> 16] = true;
        zeros += (x[i] & 0xffff) == 0;
        ones += (x[i] & 0xffff) == 0xffff;
    }
    assert_in_range(zeros, COUNT / 10, COUNT / 6);
    assert_in_range(ones, COUNT / 10, COUNT / 6);
    free(x);
    free(seen);
}

/* Every exponent, and places where fp32 code branches: the end of exp's range from both sides, and it itself. */
TEST(thresholds_of_fp32_come)
{
    enum { COUNT = 1 << 16 };
    static const float ends[] = {0x1.62e42ep6f, 0x1.9fe368p6f, FLT_MAX, FLT_MIN, 1, 0.5f};
    tk_case c = tk_case_init(&element, TK_F32);
    float *x = malloc(COUNT * sizeof *x);
    assert_non_null(x);
    c.dims[0] = COUNT;
    tki_family_fill(tki_family_find("thresholds"), &c, 2, (void *[TK_MAX_PARAMS]){x});
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        int at = 0, below = 0, above = 0;
        for (int i = 0; i < COUNT; i++) {
            const float size = fabsf(x[i]);
            at += size == ends[e];
            below += size == nextafterf(ends[e], 0);
            above += size == nextafterf(ends[e], INFINITY);
        }
        if (at == 0 || below == 0 || (above == 0 && ends[e] != FLT_MAX))
            fail_msg("%a: %d at it, %d below, %d above", (double)ends[e], at, below, above);
    }
    bool exponents[256] = {false};
    tki_family_fill(tki_family_find("log_uniform"), &c, 2, (void *[TK_MAX_PARAMS]){x});
    for (int i = 0; i < COUNT; i++)
        exponents[(((uint32_t *)(void *)x)[i] >> 23) & 255] = true;
    for (int e = 0; e < 255; e++)
        assert_true(exponents[e]);
    free(x);
}

static const tk_contract normal = {
    .name = "normal",
    TKI_TYPES_FLOAT,
    .dim_count = 1,
    .dim_names = (const char *const[]){"n"},
    .param_count = 2,
    .params = (const tk_param[]){{.name = "x", .rank = 1, .dim = (const int[]){0}, APART},
                                 {.name = "y", .output = true, .rank = 1, .dim = (const int[]){0}, .may_alias = -1}},
    .attribute_count = 1,
    .attributes = (const tk_attribute[]){TKI_DOMAIN_ATTRIBUTE}};

/* Domain normal holds for fp32, whatever was drawn. */
TEST(the_domain_is_kept)
{
    enum { COUNT = 5000 };
    static float x[COUNT];
    tki_trial trial = {.c = tk_case_init(&normal, TK_F32), .family = tki_family_find("bits"), .seed = 1};
    int moved = 0;
    trial.c.dims[0] = COUNT;
    tki_set_role(trial.c.contract, trial.c.attributes, TK_ROLE_DOMAIN, TKI_DOMAIN_NORMAL);
    tki_trial_fill(&trial, (void *[TK_MAX_PARAMS]){x});
    for (int i = 0; i < COUNT; i++) {
        const float size = fabsf(x[i]);
        assert_true(size == 0 || (size >= 0x1p-40f && size <= 0x1p20f));
        moved += size < 0x1p-39f;
    }
    assert_true(moved > COUNT / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_of_fp32),          cmocka_unit_test(huge_terms_reach_the_end_of_the_format),
        cmocka_unit_test(midpoints_are_of_the_result),  cmocka_unit_test(near_ties_are_near_in_fp32),
        cmocka_unit_test(exact_sums_are_exact_in_fp32), cmocka_unit_test(small_ties_are_of_fp32),
        cmocka_unit_test(upper_halves_all_come),        cmocka_unit_test(thresholds_of_fp32_come),
        cmocka_unit_test(the_domain_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
