/* Every complaint about a definition has a sentence of its own, and every phrase in one has words. */
#include <string.h>

#include "tests/definition_error.h"
#include "tests/unit_test.h"

static const char *sentence(tki_wrong_kind kind, tki_phrase phrase, char *text, size_t size)
{
    tki_definition_error error = {.what = {.kind = kind, .phrase = phrase, .numbers = {-17, 18}}};
    for (int i = 0; i < TKI_WRONG_NAMES; i++)
        strcpy(error.names[i], (const char[]){'n', (char)('1' + i), 0});
    return tki_definition_error_text(&error, text, size);
}

TEST(every_kind_has_a_sentence)
{
    static char texts[TKI_WRONG_KINDS][256];
    for (int kind = TKI_WRONG_NOTHING + 1; kind < TKI_WRONG_KINDS; kind++) {
        const char *text = sentence((tki_wrong_kind)kind, TKI_PHRASE_SUBSCRIPT, texts[kind], sizeof texts[kind]);
        assert_true(strlen(text) > 10 && strlen(text) < 160);
        assert_null(strpbrk(text, "$@"));
        for (int other = 0; other < kind; other++)
            assert_string_not_equal(text, texts[other]);
    }
}

TEST(every_phrase_has_words)
{
    static char texts[TKI_PHRASES][256];
    for (int phrase = TKI_PHRASE_NONE + 1; phrase < TKI_PHRASES; phrase++) {
        sentence(TKI_WRONG_EXPECTED, (tki_phrase)phrase, texts[phrase], sizeof texts[phrase]);
        assert_true(strlen(texts[phrase]) > strlen("expected , but there is n1"));
        for (int other = 0; other < phrase; other++)
            assert_string_not_equal(texts[phrase], texts[other]);
    }
}

TEST(names_numbers_and_phrases_stand_in_their_places)
{
    char text[256];
    assert_string_equal(sentence(TKI_WRONG_EXPECTED, TKI_EXPECTED_SIGN, text, sizeof text),
                        "expected n2, but there is n1");
    assert_string_equal(sentence(TKI_WRONG_AXES, TKI_PHRASE_NONE, text, sizeof text), "n1 has -17 axes, not 18");
    assert_string_equal(sentence(TKI_WRONG_NOTHING, TKI_PHRASE_NONE, text, sizeof text), "");
}

TEST(what_does_not_fit_is_cut)
{
    char whole[256], text[256];
    sentence(TKI_WRONG_EXPECTED, TKI_EXPECTED_VALUE, whole, sizeof whole);
    for (size_t size = 1; size < sizeof text; size++) {
        memset(text, 'x', sizeof text);
        sentence(TKI_WRONG_EXPECTED, TKI_EXPECTED_VALUE, text, size);
        const size_t length = strlen(whole) < size ? strlen(whole) : size - 1;
        assert_int_equal(strlen(text), length);
        assert_memory_equal(text, whole, length);
        assert_true(size == sizeof text - 1 || text[size] == 'x');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_sentence),
        cmocka_unit_test(every_phrase_has_words),
        cmocka_unit_test(names_numbers_and_phrases_stand_in_their_places),
        cmocka_unit_test(what_does_not_fit_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
