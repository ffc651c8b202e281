/* What gcov prints, read. */
#include <stdio.h>
#include <string.h>

#include "certify/missed_lines.h"
#include "kernel_file/covered_lines.h"
#include "tests/unit_test.h"

#define HEAD "        -:    0:Source:/k/k.c\n        -:    0:Runs:1\n"

static void print_missed(const tki_lines *lines, char *text, size_t size)
{
    json_t *ranges = tki_lines_json(lines);
    tki_ranges_print(ranges, SIZE_MAX, text, size);
    json_decref(ranges);
}

static void assert_lines(const char *text, int64_t count, int64_t run, const char *missed)
{
    tki_lines lines;
    char printed[64];
    assert_true(tki_lines_read(text, "/k/", "k.c", &lines));
    assert_int_equal(lines.count, count);
    assert_int_equal(lines.run, run);
    print_missed(&lines, printed, sizeof printed);
    assert_string_equal(printed, missed);
    tki_lines_free(&lines);
}

TEST(stretches)
{
    assert_lines(HEAD, 0, 0, "");
    assert_lines(HEAD "        1:    7:x\n", 1, 1, "");
    assert_lines(HEAD "       1*:    7:x\n    #####:    8:y\n", 2, 1, "8");
    /* A line without code does not end a stretch, one that ran does. */
    assert_lines(HEAD
                 "    #####:   41:a\n        -:   42:\n    =====:   43:b\n       12:   44:c\n    #####:   46:d\n",
                 4, 1, "41-43, 46");
}

TEST(one_function_of_several_is_enough)
{
    assert_lines(HEAD "        2:    5:f\n------------------\n_Z1f:\n    #####:    5:f\n------------------\n", 1, 1,
                 "");
}

static void other_files_do_not_count(void **state)
{
    tki_lines lines;
    (void)state;
    assert_lines("        -:    0:Source:/other.h\n    #####:    3:z\n" HEAD
                 "        1:    1:x\n        -:    0:Source:/k.c.h\n    #####:    9:z\n",
                 1, 1, "");
    assert_false(tki_lines_read("        -:    0:Source:/other.h\n        1:    3:z\n", "/k/", "k.c", &lines));
    assert_false(tki_lines_read("", "/k/", "k.c", &lines));
}

TEST(files_beside_it_are_named)
{
    assert_lines("        -:    0:Source:/k/part.h\n    #####:    3:z\n        1:    5:z\n" HEAD
                 "        1:    1:x\n    #####:    2:x\n        -:    0:Source:/k/deep/er.h\n    #####:    9:z\n"
                 "        -:    0:Source:/k/part.h\n    #####:    5:z\n    #####:    6:z\n",
                 6, 2, "2, part.h:3, part.h:6, deep/er.h:9");
}

TEST(whatever_comes)
{
    assert_lines(HEAD "what:is:this\n:::\n1:\n    #####:99999999999999999999:x\n    #####:-3:x\n", 0, 0, "");
    /* Code of its own that looks like a head line counts as text. */
    assert_lines(HEAD "    #####:    4:        -:    0:Source:/other.h\n    #####:    5:x\n", 2, 0, "4-5");
}

static void a_long_list_is_cut(void **state)
{
    char text[4096] = HEAD;
    tki_lines lines;
    char printed[32];
    (void)state;
    for (int i = 0; i < 20; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "    #####:%5d:x\n        1:%5d:y\n", 2 * i + 101, 2 * i + 102);
    }
    assert_true(tki_lines_read(text, "/k/", "k.c", &lines));
    print_missed(&lines, printed, sizeof printed);
    assert_string_equal(printed, "101, 103, 105, 107, 109, ...");
    tki_lines_free(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches),
        cmocka_unit_test(one_function_of_several_is_enough),
        cmocka_unit_test(other_files_do_not_count),
        cmocka_unit_test(files_beside_it_are_named),
        cmocka_unit_test(whatever_comes),
        cmocka_unit_test(a_long_list_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
