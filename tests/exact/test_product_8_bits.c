/* Products of numbers of 8 bits: all of them are numbers of fp32, sums have the bound of fp16 without a term for underflow, and kernels of gemm are judged
 * by it. What a pattern stands for is written down here once more, in integers. */
#include <math.h>

#include "core/random.h"
#include "exact/product.h"
#include "exact/round.h"
#include "tests/op_test.h"

enum { SEED = 20261119, PATTERNS = 256, MOST_PLACES = 300, SUMS = 2000, UNIT = 32 };

static const tk_dtype formats[] = {TK_F8_E4M3, TK_F8_E5M2};

/* By the definition of the formats: sign, exponent and fraction; in units of 2^-16, of which every finite number is a multiple. */
static bool number_of(tk_dtype dtype, unsigned pattern, int64_t *units)
{
    const bool e4m3 = dtype == TK_F8_E4M3;
    const int fraction_bits = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
    const int exponent = (int)(pattern & 127) >> fraction_bits, fraction = (int)pattern & ((1 << fraction_bits) - 1);
    if (e4m3 ? (pattern & 127) == 127 : exponent == 31)
        return false;
    const int64_t significand = exponent ? fraction + (1 << fraction_bits) : fraction;
    *units = significand << ((exponent ? exponent : 1) - bias - fraction_bits + 16);
    *units = pattern & 128 ? -*units : *units;
    return true;
}

/* So many units of 2^-32. */
static double value_of(__int128 units)
{
    return ldexp((double)units, -UNIT);
}

/* Of two types of 8 bits, in either order, or of one. */
static const tk_types pairs[] = {
    {TK_F8_E4M3, TK_F8_E4M3}, {TK_F8_E5M2, TK_F8_E5M2}, {TK_F8_E4M3, TK_F8_E5M2}, {TK_F8_E5M2, TK_F8_E4M3}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static tki_product product_of(tk_types of, const void *left, const void *right, int64_t places)
{
    void *tables;
    assert_int_equal(tki_product_open(of.dtype, &tables), TK_OK);
    return (tki_product){.left = {left, places, 1},
                         .right = {right, places, 1},
                         .places = places,
                         .dtype = of.dtype,
                         .mixed = of.dtype != of.result_dtype,
                         .right_dtype = of.result_dtype,
                         .tables = tables};
}

/* What bounds ask of the formats, of each and of both. */
TEST(mixed_factors_have_the_bounds_of_either)
{
    for (int f = 0; f < PAIRS; f++) {
        const tki_format x = tki_format_of(pairs[f].dtype), y = tki_format_of(pairs[f].result_dtype);
        const tk_dtype both[] = {pairs[f].dtype, pairs[f].result_dtype};
        for (int i = 0; i < 2; i++) {
            assert_int_equal(tki_products_fit_fp32(both[i]), x.precision + y.precision <= 24);
            assert_int_equal(tki_products_underflow(both[i]),
                             tki_format_exponent_lowest(x) + tki_format_exponent_lowest(y) < -149);
            assert_int_equal(tki_products_overflow(both[i]),
                             tki_format_exponent_max(x) + tki_format_exponent_max(y) + 2 >= 128);
            assert_false(tki_has_matrix_unit_bounds(both[i]));
        }
    }
}

/* All 256 by 256, of each pair: as fp32 multiplies them, and as the oracle does. */
TEST(every_product_is_a_number_of_fp32)
{
    uint8_t all[PATTERNS];
    for (int i = 0; i < PATTERNS; i++)
        all[i] = (uint8_t)i;
    for (int f = 0; f < PAIRS; f++) {
        const tk_dtype of_a = pairs[f].dtype, of_b = pairs[f].result_dtype;
        double least = INFINITY, most = 0;
        tki_product_box *box;
        const tki_product p = product_of(pairs[f], all, all, 1);
        assert_int_equal(tki_product_box_make(&p, &(tki_box){0, PATTERNS, 0, PATTERNS}, &box), TK_OK);
        for (unsigned a = 0; a < PATTERNS; a++)
            for (unsigned b = 0; b < PATTERNS; b++) {
                int64_t x, y;
                const tki_product_element e = tki_product_at(box, a, b);
                if (!number_of(of_a, a, &x) || !number_of(of_b, b, &y)) {
                    assert_true(e.flags);
                    continue;
                }
                const double exact = value_of((__int128)x * y);
                const float product = (float)tki_decode(of_a, a) * (float)tki_decode(of_b, b);
                if ((double)product != exact || e.flags || e.lo != exact || e.hi != exact ||
                    tki_product_bound(e.sum) != 0)
                    fail_msg("%s, %s: 0x%02x times 0x%02x: %a by fp32, [%a, %a] by the oracle, %a",
                             tk_dtype_name(of_a), tk_dtype_name(of_b), a, b, (double)product, e.lo, e.hi, exact);
                least = exact != 0 ? fmin(least, fabs(exact)) : least;
                most = fmax(most, fabs(exact));
            }
        tki_product_box_free(box);
        assert_true(least == (of_a == TK_F8_E4M3 ? 0x1p-9 : 0x1p-16) * (of_b == TK_F8_E4M3 ? 0x1p-9 : 0x1p-16));
        assert_true(most == (of_a == TK_F8_E4M3 ? 448.0 : 57344.0) * (of_b == TK_F8_E4M3 ? 448.0 : 57344.0));
    }
}

static float added(const float *terms, int count, int way)
{
    float sum = 0, other = 0;
    for (int i = 0; i < count; i++) {
        float *to = way == 2 && i % 2 ? &other : &sum;
        *to += terms[way == 1 ? count - 1 - i : i];
    }
    return sum + other;
}

/* The sum by integers lies in what the oracle says, and any order in fp32 within (K' - 1) u sum|a b|, which is the bound and no more. */
TEST(sums_are_within_the_bound_without_underflow)
{
    printf("seed %d\n", SEED);
    mpfr_t exact;
    mpfr_init2(exact, 640);
    for (int i = 0; i < effort(SUMS); i++) {
        const tk_types of = pairs[i % PAIRS];
        tki_random random = tki_random_stream(SEED, (uint64_t)i);
        const int places = 1 + (int)tki_random_below(&random, MOST_PLACES);
        const unsigned mask = i % (2 * PAIRS) < PAIRS ? 255
                                                      : 0xbf; /* of all magnitudes, or without the larger half */
        uint8_t a[MOST_PLACES], b[MOST_PLACES];
        float terms[MOST_PLACES];
        __int128 sum = 0, magnitude = 0;
        int nonzero = 0;
        for (int t = 0; t < places; t++) {
            int64_t x, y;
            do
                a[t] = (uint8_t)(tki_random_u64(&random) & mask);
            while (!number_of(of.dtype, a[t], &x));
            do
                b[t] = (uint8_t)(tki_random_u64(&random) & mask);
            while (!number_of(of.result_dtype, b[t], &y));
            terms[t] = (float)value_of((__int128)x * y);
            sum += (__int128)x * y;
            magnitude += (__int128)x * y < 0 ? -(__int128)x * y : (__int128)x * y;
            nonzero += x && y;
        }
        tki_product_box *box;
        const tki_product p = product_of(of, a, b, places);
        assert_int_equal(tki_product_box_make(&p, &(tki_box){0, 1, 0, 1}, &box), TK_OK);
        const tki_product_element e = tki_product_at(box, 0, 0);
        const double s = value_of(sum), bound = tki_product_bound(e.sum);
        const double due = e.sum.exact || nonzero < 2 ? 0 : (nonzero - 1) * 0x1p-24 * value_of(magnitude);
        assert_true(e.lo <= s && s <= e.hi && !e.flags && !tki_product_may_overflow(e.sum));
        assert_true(bound >= due && bound <= due * (1 + 0x1p-40));
        tki_product_exact(&p, 0, 0, exact);
        assert_true(mpfr_get_d(exact, MPFR_RNDN) == s);
        for (int way = 0; way < 3; way++)
            assert_true(fabs((double)added(terms, places, way) - s) <= bound);
        tki_product_box_free(box);
    }
    mpfr_clear(exact);
}

/* -- Kernels of gemm ----------------------------------------------------------------------------------------------- */

typedef enum mistake { RIGHT, LAST_DROPPED, FOURTEEN_BITS, FLUSHED, OVERFLOWS, TYPES_SWAPPED, MISTAKES } mistake;

static float cut_to_14_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7f800000) != 0x7f800000)
        bits &= ~UINT32_C(0x3ff);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float element_at(tk_dtype dtype, const void *data, int64_t i, mistake how)
{
    const tki_format f = tki_format_of(dtype);
    const uint32_t bits = ((const uint8_t *)data)[i];
    const bool subnormal = (bits & 127) < UINT32_C(1) << (f.precision - 1);
    return how == FLUSHED && subnormal ? 0 : (float)tki_decode(dtype, bits);
}

static void store(tk_dtype dtype, void *data, int64_t i, float sum, mistake how)
{
    const tki_format f = tki_format_of(dtype);
    if (dtype == TK_F32) {
        ((float *)data)[i] = sum;
        return;
    }
    uint32_t bits = tki_round_double(dtype, (double)sum);
    if (how != OVERFLOWS && !isnan(sum) && (bits & 127) > f.largest)
        bits = (bits & f.sign) | f.largest;
    ((uint8_t *)data)[i] = (uint8_t)bits;
}

static int multiply(const tk_case *c, void *const b[], void *data)
{
    const mistake how = *(const mistake *)data;
    const int64_t m = c->dims[0], n = c->dims[1], k = c->dims[2];
    const tk_dtype of_a = tk_case_param_dtype(c, how == TYPES_SWAPPED),
                   of_b = tk_case_param_dtype(c, how != TYPES_SWAPPED);
    for (int64_t i = 0; i < m * n; i++) {
        float sum = 0;
        for (int64_t t = 0; t < k - (how == LAST_DROPPED); t++) {
            sum += element_at(of_a, b[0], i / n * k + t, how) * element_at(of_b, b[1], t * n + i % n, how);
            sum = how == FOURTEEN_BITS ? cut_to_14_bits(sum) : sum;
        }
        store(tk_case_param_dtype(c, 2), b[2], i, sum, how);
    }
    return 0;
}

/* Fourteen bits are what some matrix units keep of such sums. The last two are of different types, with results of fp32. */
TEST_WITH_CONTEXT(kernels_of_gemm_are_judged)
{
    const tk_contract *op = tk_contract_find("gemm");
    for (int f = 0; f < 6; f++)
        for (mistake how = RIGHT; how < MISTAKES; how++) {
            const tk_dtype dtype = formats[f % 2], result = f < 2 ? dtype : f < 4 ? TK_F32 : formats[1 - f % 2];
            if ((how == OVERFLOWS && f >= 2) || (how == TYPES_SWAPPED && f < 4) || (is_sanitized && how == RIGHT))
                continue;
            tk_certify_options options = TK_CERTIFY_DEFAULTS;
            options.result_dtype = &result;
            options.kernel = multiply;
            options.kernel_data = &how;
            options.kernel_name = "multiply";
            options.skip_mutants = true;
            tk_certificate *c = certify_one(ctx, op, dtype, TK_I32, options);
            if (tk_certificate_verdict(c) != (how == RIGHT ? TK_HELD : TK_REFUTED))
                fail_msg("mistake %d: %s: %s: %s", (int)how, tk_certificate_subject(c), tk_certificate_headline(c),
                         tk_certificate_reason(c));
            assert_int_equal(f < 2, strstr(tk_certificate_headline(c), "overflow=saturate") != NULL);
            tk_certificate_destroy(c);
        }
}

/* Matrix units are not modelled for them, and what overflows is said of results in 8 bits alone. */
TEST_WITH_CONTEXT(what_has_no_meaning_is_refused)
{
    static const tk_setting tensor_core = {"numerics", "tensor_core"}, nan = {"overflow", "nan"};
    const tk_contract *op = tk_contract_find("gemm");
    static const mistake right = RIGHT;
    const tk_dtype f32 = TK_F32;
    tk_certificate *c = NULL;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = multiply;
    options.kernel_data = (void *)(uintptr_t)&right;
    options.setting_count = 1;
    options.settings = &tensor_core;
    assert_refused(ctx, tk_certify(ctx, op, TK_F8_E4M3, TK_I32, &options, &c), TK_BAD_ARGUMENT, "not for 8 bits");
    options.settings = &nan;
    options.result_dtype = &f32;
    assert_refused(ctx, tk_certify(ctx, op, TK_F8_E4M3, TK_I32, &options, &c), TK_BAD_ARGUMENT, "overflow is for");
    assert_null(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_factors_have_the_bounds_of_either),
        cmocka_unit_test(every_product_is_a_number_of_fp32),
        cmocka_unit_test(sums_are_within_the_bound_without_underflow),
        cmocka_unit_test(kernels_of_gemm_are_judged),
        cmocka_unit_test(what_has_no_meaning_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
