/* The constants of a source. */
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "kernel_file/source_constants.h"
#include "tests/unit_test.h"

static tki_dictionary scan(const char *text)
{
    tki_dictionary dictionary;
    /* Without a zero behind it: reading too far is seen under a sanitizer. */
    char *copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    memcpy(copy, text, strlen(text));
    char *exact = realloc(copy, strlen(text) ? strlen(text) : 1);
    tki_dictionary_scan(exact, strlen(text), &dictionary);
    free(exact);
    return dictionary;
}

static void assert_integers(const char *text, int count, const int64_t *expected)
{
    tki_dictionary dictionary = scan(text);
    assert_int_equal(dictionary.integer_count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(dictionary.integers[i], expected[i]);
}

#define INTEGERS(text, ...) \
    assert_integers(text, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

TEST(integers)
{
    INTEGERS("if (k == 192)", 192);
    INTEGERS("#define TILE 96\n#define MASK 0x7FUL", 96, 127);
    INTEGERS("x % 1'000 + 0b101 + 017", 1000, 5, 1005, 15, 20);
    INTEGERS("7 7 7", 7);
}

TEST(names_hold_no_numbers)
{
    assert_int_equal(scan("int64_t a1 = b22; uint16_t u16_3;").integer_count, 0);
    assert_int_equal(scan("// 5\n/* 6 \n 7 */ \"8\\\"9\" '1'").integer_count, 0);
    assert_int_equal(scan("/* 5").integer_count, 0);
    assert_int_equal(scan("\"5").integer_count, 0);
}

/* Behind all others, in their order. */
TEST(strings_hold_numbers)
{
    INTEGERS("f(\"4160\", 7)", 7, 4160);
    INTEGERS("g(\"n=613,m=0012x\") + 5 \"1234567890\" \"3\"", 5, 613, 12);
    INTEGERS("\"77\\\"88", 77, 88);
}

TEST(what_two_come_to)
{
    INTEGERS("1 << 7", 1, 7, 128);
    INTEGERS("64 * 1024", 64, 1024, 65536);
    INTEGERS("(32) * (3)", 32, 3, 96);
    INTEGERS("9223372036854775807 * 2", INT64_MAX, 2);
    INTEGERS("1 << 64", 1, 64);
    INTEGERS("8 / 0", 8, 0);
    INTEGERS("3, 4", 3, 4);
}

TEST(floats)
{
    tki_dictionary dictionary = scan("0.375f + .5 - 1e-3L * 0x1p-10 1.5e+2");
    const double expected[] = {0.375, 0.5, 1e-3, 0x1p-10, 150};
    assert_int_equal(dictionary.float_count, 5);
    for (int i = 0; i < 5; i++)
        assert_true(dictionary.floats[i] == expected[i]);
    assert_int_equal(dictionary.integer_count, 0);
}

static void scan_code(const char *listing, int count, const int64_t expected[])
{
    tki_dictionary dictionary = {0};
    char *exact = malloc(strlen(listing) + !*listing); /* without an end, so that a step too far is seen */
    assert_non_null(exact);
    memcpy(exact, listing, strlen(listing));
    tki_dictionary_scan_code(exact, strlen(listing), &dictionary);
    free(exact);
    assert_int_equal(dictionary.integer_count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(dictionary.integers[i], expected[i]);
}

#define CODE(listing, ...) \
    scan_code(listing, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

TEST(machine_code)
{
    CODE("   8:\tcmp    $0x120,%rdi\n   f:\tjg     ba <f+0xba>\n  6d:\ttest   $0x7f,%dil", 288, 127);
    CODE("   4:\tand    $0xffffffffffffff80,%rax\n", 128);
    CODE("   4:\tsub    $0x78,%rsp\n   8:\tcmp    $0x5,%eax\n", 5);
    CODE("   0:\tcmp\tx0, #0x120\n   4:\tand\tx1, x0, #0x7f\n   8:\tsub\tsp, sp, #0x40\n", 288, 127);
    CODE("   0:\tadd\tx0, x0, #-12\n", 12);
    /* m % 96, q % 98, k % 1021 and z / 1000 of 32 and 64 bits, signed and unsigned, as gcc has them */
    CODE("  17:\tmov    $0xaaaaaaab,%ecx\n  1c:\timul   %rcx,%rax\n  20:\tshr    $0x26,%rax\n", 96);
    CODE("  3a:\timul   $0x5397829d,%rax,%rax\n  41:\tsar    $0x25,%rax\n", 98);
    CODE("  8a:\tmovabs $0x4030241b144f3b6d,%rdx\n  97:\timul   %rdx\n  9a:\tsar    $0x8,%rdx\n", 1021);
    CODE("  86:\tshr    $0x3,%rdx\n  8a:\tmovabs $0x20c49ba5e353f7cf,%rdx\n  97:\tmul    %rdx\n  9a:\tshr    "
         "$0x4,%rdx\n",
         125, 1000);
    scan_code("", 0, NULL);
    scan_code("  1c:\tshr    $0x26,%rax\n\tnop\n$0x44\nf+0x20:\n", 0, NULL);
}

/* What converts elements, as our header does where a processor cannot, is no reason: its integers have 32 bits, and the source casts none. */
TEST(conversions)
{
    static const char casts[] = "v = (int)((float)i * scale);";
    static const struct {
        const char *listing, *source;
        bool counts, compares;
    } codes[] = {
        {"   4:\tcvtsi2ss %rax,%xmm0\n   8:\tcvttss2si %xmm0,%rax\n", "", true, true},
        {"   4:\tcvtsi2ss %rax,%xmm0\n   8:\tcvttss2si %xmm0,%r12\n", "", true, true},
        {"   4:\tcvtsi2ssq 0x10(%rsp),%xmm0\n   8:\tcvttss2si 0x8(%rsp),%r9\n", "", true, true},
        {"   4:\tcvtsi2ssl 0x10(%rsp),%xmm0\n   8:\tcvttss2si 0x8(%rsp),%r9d\n", "", false, false},
        {"   4:\tcvtsi2ss %eax,%xmm0\n   8:\tcvttss2si %xmm0,%r10d\n", "", false, false},
        {"   4:\tcvtsi2ss %eax,%xmm0\n   8:\tcvttss2si %xmm0,%r10d\n", casts, true, true},
        {"   4:\tcvtsi2ss %eax,%xmm0\n   8:\tcvttss2si %xmm0,%r10d\n", "(float)i", false, false},
        {"   4:\tcvtsi2ss %rax,%xmm0\n   8:\tcvttss2si %xmm0,%r10d\n", "", false, true},
        {"   4:\tvcvtqq2ps %ymm0,%xmm0\n   8:\tvcvttps2qq %xmm1,%ymm1\n", "", true, true},
        {"   4:\tvcvttps2dq %ymm0,%ymm1\n", casts, false, false},
        {"   4:\tscvtf\ts0, x0\n   8:\tfcvtzs\tx0, s0\n", "", true, true},
        {"   4:\tscvtf\ts0, w0\n   8:\tfcvtzs\tw0, s0\n", "", false, false},
        {"   4:\tvcvtsi2sd %rax,%xmm0,%xmm0\n   8:\tadd    %rax,%rdx\n", casts, false, false},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        tki_dictionary dictionary;
        tki_dictionary_scan(codes[i].source, strlen(codes[i].source), &dictionary);
        tki_dictionary_scan_code(codes[i].listing, strlen(codes[i].listing), &dictionary);
        if (tki_counts_in_fp32(&dictionary) != codes[i].counts ||
            tki_compares_in_fp32(&dictionary) != codes[i].compares)
            fail_msg("%s", codes[i].listing);
    }
}

TEST(any_bytes)
{
    tki_random random = tki_random_stream(5, 0);
    static const char alphabet[] = "$#\t,%shr0123456789.xXeEpP'\"/*\\\n <+-bfUL_(";
    for (int i = 0; i < effort(20000); i++) {
        char text[40];
        size_t length = tki_random_below(&random, sizeof text);
        for (size_t k = 0; k < length; k++)
            text[k] = alphabet[tki_random_below(&random, sizeof alphabet)];
        char *exact = malloc(length ? length : 1);
        assert_non_null(exact);
        memcpy(exact, text, length);
        tki_dictionary dictionary;
        tki_dictionary_scan(exact, length, &dictionary);
        tki_dictionary_scan_code(exact, length, &dictionary);
        assert_in_range(dictionary.integer_count, 0, TKI_MOST_INTEGERS);
        assert_in_range(dictionary.float_count, 0, TKI_MOST_FLOATS);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(names_hold_no_numbers),
        cmocka_unit_test(strings_hold_numbers),
        cmocka_unit_test(what_two_come_to),
        cmocka_unit_test(floats),
        cmocka_unit_test(machine_code),
        cmocka_unit_test(conversions),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
