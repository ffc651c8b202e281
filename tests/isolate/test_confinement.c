/* What a worker's report of confinement is read for. */
#include "isolate/confinement.h"
#include "tests/unit_test.h"

TEST(limits_in_a_report)
{
    static const struct {
        const char *report;
        int64_t memory, tasks;
    } list[] = {
        {"", -1, -1},
        {"limits: no core files\nlimit of memory in bytes: 4096\nlimit of tasks: 7\n", 4096, 7},
        {"limit of memory in bytes: none\nlimit of tasks: none\n", -1, -1},
        {"limit of memory in bytes: -3\nlimit of tasks: 0\n", -1, -1},
        /* The last counts: the first is that of compute-sanitizer's process. */
        {"limit of tasks: 7\nlimit of memory in bytes: 1\nlimit of tasks: none\n", 1, -1},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assert_true(tki_confinement_limit(list[i].report, TKI_LIMIT_MEMORY) == list[i].memory);
        assert_true(tki_confinement_limit(list[i].report, TKI_LIMIT_TASKS) == list[i].tasks);
    }
}

TEST(weakness_in_a_report)
{
    assert_null(tki_confinement_weakness("confinement: weak: of another\nconfinement: strong\n"));
    assert_string_equal(tki_confinement_weakness("confinement: strong\nconfinement: weak: no filter\n"),
                        "no filter\n");
    assert_non_null(tki_confinement_weakness("nothing about it\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits_in_a_report), cmocka_unit_test(weakness_in_a_report)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
