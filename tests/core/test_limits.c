/* What foreign code may have at most: defaults, the machine's measure, and what is no limit. */
#include <unistd.h>

#include "core/limits.h"
#include "tests/op_test.h"

TEST(defaults)
{
    const int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    const tk_limits limits = tki_limits_of(NULL);
    assert_true(limits.memory_bytes == machine / 4 * 3);
    assert_true(limits.output_bytes == INT64_C(1) << 30);
    assert_int_equal(limits.tasks, 1024);
    assert_int_equal(limits.folder_depth, 16);
}

TEST(what_is_asked_for)
{
    const int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    tk_limits limits = tki_limits_of(&(tk_limits){1 << 25, 1 << 20, 7, 3});
    assert_true(limits.memory_bytes == 1 << 25 && limits.output_bytes == 1 << 20);
    assert_int_equal(limits.tasks, 7);
    assert_int_equal(limits.folder_depth, 3);
    limits = tki_limits_of(&(tk_limits){.memory_bytes = INT64_MAX});
    assert_true(limits.memory_bytes == machine);
}

TEST_WITH_CONTEXT(what_is_none)
{
    static const struct {
        tk_limits limits;
        const char *text;
    } bad[] = {
        {{.memory_bytes = -1}, "-1 bytes of memory"},
        {{.memory_bytes = TK_LEAST_MEMORY - 1}, "bytes of memory; it must be from"},
        {{.output_bytes = 1}, "1 bytes of output"},
        {{.tasks = -1}, "-1 tasks"},
        {{.tasks = TK_MOST_TASKS + 1}, "tasks; it must be from 1 to"},
        {{.folder_depth = TK_MOST_FOLDER_DEPTH + 1}, "nested folders; it must be from 1 to 64"},
    };
    tk_kernel_file *kernel;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(ctx, tki_limits_check(ctx, &bad[i].limits), TK_BAD_ARGUMENT, bad[i].text);
        assert_refused(ctx,
                       tk_kernel_file_open(
                           ctx, "x.c",
                           &(tk_kernel_file_options){.size = sizeof(tk_kernel_file_options), .limits = bad[i].limits},
                           &kernel),
                       TK_BAD_ARGUMENT, bad[i].text);
    }
    assert_ok(ctx, tki_limits_check(ctx, &(tk_limits){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(what_is_asked_for),
        cmocka_unit_test(what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
