/* The build of the judge (trials/judge_build.c): which bytes of a loaded object's notes are its build id, and that this program has one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trials/judge_build.h"

/* Of the machine's own byte order, as the linker writes them. */
static size_t put(unsigned char *notes, size_t at, uint32_t type, const char *owner, const char *text, uint32_t bytes)
{
    const uint32_t head[] = {(uint32_t)strlen(owner) + 1, bytes, type};
    memcpy(notes + at, head, sizeof head);
    at += sizeof head;
    memcpy(notes + at, owner, head[0]);
    at += (head[0] + 3) / 4 * 4;
    memcpy(notes + at, text, bytes);
    return at + (bytes + 3) / 4 * 4;
}

static void notes_are_read(void **state)
{
    (void)state;
    enum { ABI_TAG = 1, BUILD_ID = 3 };
    unsigned char notes[128] = {0};
    size_t length = 0;
    size_t bytes = put(notes, 0, ABI_TAG, "GNU", "0123456789abcdef", 16);
    bytes = put(notes, bytes, BUILD_ID, "Other", "another number..", 16);
    assert_null(tki_build_note(notes, bytes, &length));
    const size_t before = bytes;
    bytes = put(notes, bytes, BUILD_ID, "GNU", "the id of 18 bytes", 18);
    const unsigned char *id = tki_build_note(notes, bytes, &length);
    assert_non_null(id);
    assert_int_equal(length, 18);
    assert_memory_equal(id, "the id of 18 bytes", 18);
    /* However much of the last is missing, nothing beyond is read; what pads it may be. */
    for (size_t cut = before; cut < bytes - 2; cut++)
        assert_null(tki_build_note(notes, cut, &length));
    assert_non_null(tki_build_note(notes, bytes - 2, &length));
    assert_null(tki_build_note(notes, 0, &length));
}

static void sizes_that_lie(void **state)
{
    (void)state;
    unsigned char notes[64] = {0};
    size_t length = 0;
    for (uint32_t lie = 0xffffffe0u; lie; lie++) {
        const uint32_t heads[][3] = {{lie, 16, 3}, {4, lie, 3}, {lie, lie, 3}, {4, lie, 1}, {lie, 4, 1}};
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
            memcpy(notes, heads[i], sizeof heads[i]);
            memcpy(notes + sizeof heads[i], "GNU", 4);
            assert_null(tki_build_note(notes, sizeof notes, &length));
        }
    }
}

static void known_and_the_same(void **state)
{
    (void)state;
    char build[TKI_HASH_HEX], again[TKI_HASH_HEX], machine[TKI_HASH_HEX];
    assert_true(tki_judge_build(build));
    assert_true(tki_judge_build(again));
    assert_true(tki_judge_machine(machine));
    assert_string_equal(build, again);
    assert_string_not_equal(build, machine);
    assert_int_equal(strspn(build, "0123456789abcdef"), TKI_HASH_HEX - 1);
    assert_int_equal(strspn(machine, "0123456789abcdef"), TKI_HASH_HEX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(notes_are_read), cmocka_unit_test(sizes_that_lie),
                                       cmocka_unit_test(known_and_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
