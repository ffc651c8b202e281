/* The hash of texts (core/text_hash.h) against published values of FNV-1a, which were taken of texts with their ends. */
#include "core/text_hash.h"
#include "tests/unit_test.h"

TEST(published_values)
{
    assert_int_equal(tki_text_hash(TKI_TEXT_HASH_BEGIN, ""), UINT64_C(0xaf63bd4c8601b7df));
    assert_int_equal(tki_text_hash(TKI_TEXT_HASH_BEGIN, "a"), UINT64_C(0x089be207b544f1e4));
    assert_int_equal(tki_text_hash(TKI_TEXT_HASH_BEGIN, "foobar"), UINT64_C(0x34531ca7168b8f38));
}

TEST(goes_on)
{
    uint64_t halves = tki_text_hash(tki_text_hash(TKI_TEXT_HASH_BEGIN, "foo"), "bar");
    assert_int_not_equal(halves, tki_text_hash(TKI_TEXT_HASH_BEGIN, "foobar"));
    assert_int_not_equal(halves, tki_text_hash(tki_text_hash(TKI_TEXT_HASH_BEGIN, "bar"), "foo"));
    /* Bytes above 127 count as such, whether char is signed or not. */
    assert_int_equal(tki_text_hash(TKI_TEXT_HASH_BEGIN, "\xff"),
                     ((TKI_TEXT_HASH_BEGIN ^ 0xff) * UINT64_C(0x100000001b3)) * UINT64_C(0x100000001b3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values),
        cmocka_unit_test(goes_on),
    };
    return cmocka_run_group_tests_name("text_hash", tests, NULL, NULL);
}
