/* The program's argument parsers: what they take, and what they must refuse. */
#include <string.h>

#include "tests/unit_test.h"

/* The parsers belong to the program, not to a library. */
#include "cli/parse.c" /* NOLINT(bugprone-suspicious-include) */

TEST(test_unsigned)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        {"0", 0},           {"7", 7},
        {"007", 7},         {"18446744073709551615", UINT64_MAX},
        {"0x0", 0},         {"0xffffffffffffffff", UINT64_MAX},
        {"0XaBcD", 0xabcd}, {"0x00000000000000000001", 1},
    };
    static const char *const bad[] = {"",
                                      " ",
                                      "-1",
                                      "+1",
                                      "1 ",
                                      " 1",
                                      "0x",
                                      "x",
                                      "0xg",
                                      "1.0",
                                      "1e3",
                                      "ff",
                                      "0b1",
                                      "1\n",
                                      "18446744073709551616",
                                      "0x10000000000000000",
                                      "0x-1"};
    uint64_t value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(cli_parse_unsigned(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(cli_parse_unsigned(bad[i], &value));
}

TEST(test_signed)
{
    static const char *const bad[] = {
        "", "-", "--1", "+1", "0x1", "1-", "9223372036854775808", "-9223372036854775809"};
    int64_t value;
    assert_true(cli_parse_signed("-100", &value) && value == -100);
    assert_true(cli_parse_signed("-0", &value) && value == 0);
    assert_true(cli_parse_signed("9223372036854775807", &value) && value == INT64_MAX);
    assert_true(cli_parse_signed("-9223372036854775808", &value) && value == INT64_MIN);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(cli_parse_signed(bad[i], &value));
}

TEST(test_float)
{
    static const char *const bad[] = {"", " 1", "1 ", "nan", "inf", "-inf", "1e39", "0.1f", "1,5", "x"};
    float value;
    assert_true(cli_parse_float("0.1", &value) && value == 0.1f);
    assert_true(cli_parse_float("-3", &value) && value == -3.0f);
    assert_true(cli_parse_float("0x1p-10", &value) && value == 0x1p-10f);
    assert_true(cli_parse_float("0.100000001", &value) && value == 0.1f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(cli_parse_float(bad[i], &value));
}

TEST(test_count)
{
    int value = 5;
    assert_true(cli_parse_count("0", 0, 8, &value) && value == 0);
    assert_true(cli_parse_count("8", 0, 8, &value) && value == 8);
    assert_false(cli_parse_count("9", 0, 8, &value));
    assert_false(cli_parse_count("-1", 0, 8, &value));
    assert_false(cli_parse_count("4294967296", 0, 8, &value)); /* 2^32 must not wrap to 0 */
    assert_int_equal(value, 8);
}

TEST(test_size)
{
    static const char *const bad[] = {"",     "0",    "0K",  "K",        "-1",
                                      "+1",   "1 K",  "1k",  "1B",       "1KiB",
                                      "1.5G", "0x10", "1KK", "8388608T", "9223372036854775808"};
    int64_t bytes = 5;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(cli_parse_size(bad[i], &bytes));
    assert_true(bytes == 5);
    assert_true(cli_parse_size("1", &bytes) && bytes == 1);
    assert_true(cli_parse_size("9223372036854775807", &bytes) && bytes == INT64_MAX);
    assert_true(cli_parse_size("3K", &bytes) && bytes == 3 << 10);
    assert_true(cli_parse_size("512M", &bytes) && bytes == 512 << 20);
    assert_true(cli_parse_size("4G", &bytes) && bytes == INT64_C(4) << 30);
    assert_true(cli_parse_size("8388607T", &bytes) && bytes == INT64_C(8388607) << 40);
}

TEST(test_words)
{
    cli_types types;
    assert_true(cli_parse_types("f16", &types) && types.one);
    assert_true(types.types.dtype == TK_F16 && types.types.result_dtype == TK_F16);
    assert_true(cli_parse_types("bf16-f32", &types) && types.one);
    assert_true(types.types.dtype == TK_BF16 && types.types.result_dtype == TK_F32);
    assert_true(cli_parse_types("all", &types) && !types.one);
    assert_false(cli_parse_types("f32-", &types));
    assert_false(cli_parse_types("F16", &types));
    assert_false(cli_parse_types("", &types));
}

TEST(test_nearest)
{
    static const char *const names[] = {"gelu_fwd", "gelu_bwd", "softmax_fwd", "xent", "gemm"};
    enum { COUNT = sizeof names / sizeof *names };
    assert_string_equal(cli_nearest("gelu_fwd", names, COUNT), "gelu_fwd");
    assert_string_equal(cli_nearest("gleu_bwd", names, COUNT), "gelu_bwd");
    assert_string_equal(cli_nearest("gelu-fwd", names, COUNT), "gelu_fwd");
    assert_string_equal(cli_nearest("softmax", names, COUNT), "softmax_fwd");
    assert_string_equal(cli_nearest("gem", names, COUNT), "gemm");
    assert_null(cli_nearest("conv2d", names, COUNT));
    assert_null(cli_nearest("", names, COUNT));
    assert_null(cli_nearest("gemm", names, 0));
    char long_word[5000];
    memset(long_word, 'x', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    assert_null(cli_nearest(long_word, names, COUNT));
}

TEST(test_shape)
{
    cli_shape shape;
    cli_error error;
    assert_true(cli_parse_shape("257", &shape, &error) && shape.count == 1 && !shape.named && shape.sizes[0] == 257);
    assert_true(cli_parse_shape("16x33", &shape, &error) && shape.count == 2 && shape.sizes[1] == 33);
    assert_true(cli_parse_shape("n=0", &shape, &error) && shape.named && shape.sizes[0] == 0);
    assert_true(cli_parse_shape("k=5,m=3,n=4", &shape, &error) && shape.count == 3);
    assert_string_equal(shape.names[0], "k");
    assert_true(cli_parse_shape("9223372036854775807", &shape, &error));

    static const struct {
        const char *text, *reason;
    } bad[] = {
        {"", "a size must be"},         {"x", "a size must be"},
        {"3x", "a size must be"},       {"-1", "a size must be"},
        {"3x-4", "a size must be"},     {"9223372036854775808", "a size must be"},
        {"n=", "a size must be"},       {"=3", "invalid name"},
        {"n=3,n=4", "'n' twice"},       {"n=3,4", "and not others"},
        {"n=3;m=4", "a size must be"},  {"3,n=4", "and not others"},
        {"n =3", "invalid name"},       {"n=0x10", "a size must be"},
        {"n=1,m=2,", "and not others"}, {"1.5", "a size must be"},
        {"n=3x4", "a size must be"},    {"an_unreasonably_long_name_of_a_size=1", "invalid name"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(cli_parse_shape(bad[i].text, &shape, &error));
        assert_non_null(strstr(error.text, bad[i].reason));
    }
    char many[2 * (TK_MAX_DIMS + 1)] = "1";
    while (strlen(many) < 2 * TK_MAX_DIMS - 1)
        strcat(many, "x1");
    assert_true(cli_parse_shape(many, &shape, &error));
    assert_int_equal(shape.count, TK_MAX_DIMS);
    strcat(many, "x1");
    assert_false(cli_parse_shape(many, &shape, &error));
    assert_non_null(strstr(error.text, "more than 64"));
}

TEST(test_shape_fit)
{
    const tk_contract product = {
        .name = "product", .dim_count = 3, .dim_names = (const char *const[]){"m", "n", "k"}};
    cli_shape shape;
    cli_error error;
    tk_case c = {.contract = &product};
    assert_true(cli_parse_shape("k=5,m=3,n=4", &shape, &error));
    assert_true(cli_shape_fit(&shape, &c, &error));
    assert_true(c.dims[0] == 3 && c.dims[1] == 4 && c.dims[2] == 5);
    assert_true(cli_parse_shape("7x8x9", &shape, &error));
    assert_true(cli_shape_fit(&shape, &c, &error));
    assert_true(c.dims[0] == 7 && c.dims[1] == 8 && c.dims[2] == 9);
    assert_true(cli_parse_shape("7x8", &shape, &error));
    assert_false(cli_shape_fit(&shape, &c, &error));
    assert_non_null(strstr(error.text, "product has 3: m, n, k"));
    assert_true(cli_parse_shape("m=1,n=2,q=3", &shape, &error));
    assert_false(cli_shape_fit(&shape, &c, &error));
    assert_non_null(strstr(error.text, "'q'"));
}

/* p = (h - r) / stride + 1, which stands between two that do not follow. */
static void derive_p(tk_case *c)
{
    c->dims[1] = (c->dims[0] - c->dims[2]) / c->attributes[0].integer + 1;
}

TEST(sizes_that_follow)
{
    const tk_contract pool = {.name = "pool",
                              .dim_count = 3,
                              .dim_names = (const char *const[]){"h", "p", "r"},
                              .derived = (const char *const[]){NULL, "(h - r) // stride + 1", NULL},
                              .derive = derive_p};
    static const struct {
        const char *text;
        int64_t stride, p;
        const char *error; /* or NULL */
    } rows[] = {{"h=9,r=3", 1, 7, NULL},
                {"r=3,h=9", 2, 4, NULL},
                {"9x3", 2, 4, NULL},
                {"9x7x3", 1, 7, NULL},
                {"h=9,p=5,r=3", 1, 5, NULL}, /* the case is refused later, by its contract */
                {"h=1,r=9", 1, 0, "makes p = (h - r) // stride + 1 negative"},
                {"h=9,p=7", 1, 0, "has no size 'r'"},
                {"h=9", 1, 0, "has 1 size, but pool has 3: h, p, r"},
                {"9", 1, 0, "has 1 size, but pool has 3: h, p, r"},
                {"1x2x3x4", 1, 0, "has 4 sizes"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cli_shape shape;
        cli_error error = {{0}};
        tk_case c = {.contract = &pool, .attributes = {{.integer = rows[i].stride}}};
        assert_true(cli_parse_shape(rows[i].text, &shape, &error));
        assert_int_equal(cli_shape_fit(&shape, &c, &error), !rows[i].error);
        if (rows[i].error && !strstr(error.text, rows[i].error))
            fail_msg("%s: %s", rows[i].text, error.text);
        if (!rows[i].error && c.dims[1] != rows[i].p)
            fail_msg("%s: p is %lld", rows[i].text, (long long)c.dims[1]);
    }
}

TEST(test_input)
{
    cli_input input;
    cli_error error;
    assert_true(cli_parse_input("grad_output=0x3c00,0xFC00,0x0", &input, &error));
    assert_string_equal(input.name, "grad_output");
    assert_true(input.count == 3 && input.bits[0] == 0x3c00 && input.bits[1] == 0xfc00 && input.bits[2] == 0);
    assert_true(cli_input_fit(&input, TK_F16, &error));
    cli_input_free(&input);

    assert_true(cli_parse_input("x=", &input, &error) && input.count == 0);
    cli_input_free(&input);
    cli_input_free(&input); /* twice is harmless */

    static const char *const bad[] = {"",
                                      "x",
                                      "=0x1",
                                      "x=,",
                                      "x=0x1,",
                                      "x=,0x1",
                                      "x=0x",
                                      "x=0x1 ,0x2",
                                      "x=1.5",
                                      "x y=0x1",
                                      "x=0x1;0x2",
                                      "x=--1",
                                      "x=-0x1",
                                      "x=18446744073709551616",
                                      "x=0x10000000000000000",
                                      "x=-9223372036854775809"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(cli_parse_input(bad[i], &input, &error));
        assert_null(input.bits);
    }
}

static bool fits(const char *text, tk_dtype dtype, uint64_t *first)
{
    cli_input input;
    cli_error error;
    assert_true(cli_parse_input(text, &input, &error));
    bool fit = cli_input_fit(&input, dtype, &error);
    *first = input.count > 0 ? input.bits[0] : 0;
    cli_input_free(&input);
    return fit;
}

TEST(test_input_fit)
{
    uint64_t bits;
    assert_true(fits("x=0xffff", TK_BF16, &bits) && bits == 0xffff);
    assert_false(fits("x=0x10000", TK_BF16, &bits));
    assert_false(fits("x=1", TK_F16, &bits)); /* a decimal would be taken for a value, and it is not one */
    assert_false(fits("x=-1", TK_F16, &bits));
    assert_true(fits("i=-100", TK_I32, &bits) && bits == (uint64_t)-100);
    assert_true(fits("i=0xffffff9c", TK_I32, &bits) && bits == (uint64_t)-100);
    assert_true(fits("i=2147483647", TK_I32, &bits) && bits == INT32_MAX);
    assert_false(fits("i=2147483648", TK_I32, &bits));
    assert_true(fits("i=-2147483648", TK_I32, &bits) && bits == (uint64_t)INT32_MIN);
    assert_false(fits("i=-2147483649", TK_I32, &bits));
    assert_false(fits("i=0x100000000", TK_I32, &bits));
    assert_true(fits("i=9223372036854775807", TK_I64, &bits) && bits == INT64_MAX);
    assert_true(fits("i=-9223372036854775808", TK_I64, &bits) && bits == (uint64_t)INT64_MIN);
    assert_true(fits("i=0xffffffffffffffff", TK_I64, &bits) && bits == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsigned), cmocka_unit_test(test_signed),    cmocka_unit_test(test_float),
        cmocka_unit_test(test_count),    cmocka_unit_test(test_words),     cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_shape),    cmocka_unit_test(test_shape_fit), cmocka_unit_test(sizes_that_follow),
        cmocka_unit_test(test_input),    cmocka_unit_test(test_input_fit), cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
