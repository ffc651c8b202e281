/* Text from outside: what is known, and then anything, is valid where it goes. */
#include <strings.h>

#include "core/random.h"
#include "tests/fuzz/escape.h"
#include "tests/unit_test.h"

static void expect(void (*put)(FILE *, const char *, size_t), const char *text, const char *wanted)
{
    char *got = written(put, text, SIZE_MAX);
    assert_string_equal(got, wanted);
    free(got);
}

TEST(test_terminal)
{
    static const char *const cases[][2] = {
        {"plain text, with \\ and \"quotes\"", "plain text, with \\ and \"quotes\""},
        {"Größe 大 שלום", "Größe 大 שלום"},
        {"a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd"},
        {"\033[31mred\033[0m \x7f", "\\x1b[31mred\\x1b[0m \\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\u{9b}31m"}, /* C1: CSI in one character */
        {"\x9b"
         "31m",
         "\\x9b31m"}, /* and as a byte that is no UTF-8 */
        {"a\u202eb\u2066c\u200bd\ufeff", "a\\u{202e}b\\u{2066}c\\u{200b}d\\u{feff}"},
        {"\U000e0041\u2028\u00ad", "\\u{e0041}\\u{2028}\\u{ad}"}, /* tags, a line break, a soft hyphen */
        {"=\u0338", "=\\u{338}"},                                 /* a mark that would strike out what is before it */
        {"\xed\xa0\x80 \xc0\xaf \xf5 \xe2\x82", "\\xed\\xa0\\x80 \\xc0\\xaf \\xf5 \\xe2\\x82"}, /* no UTF-8 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(tki_put_terminal, cases[i][0], cases[i][1]);
        expect(tki_put_terminal, cases[i][1], cases[i][1]);
    }
    assert_int_equal(tki_terminal_width("Gr\u00f6\u00dfe"), 5);
    assert_int_equal(tki_terminal_width("a\nb"), 6);
    char *cut = written(tki_put_terminal, "ab\u00f6cd", 3);
    assert_string_equal(cut, "ab\u00f6 [cut]");
    free(cut);
}

TEST(test_markdown)
{
    static const char *const cases[][2] = {
        {"GELU_BWD.ERR: x[3] is -0; 2 of 5", "GELU_BWD.ERR: x\\[3\\] is -0; 2 of 5"},
        {"wrong\n\n# HELD\n<script>alert(1)</script>",
         "wrong\\\\x0a\\\\x0a\\# HELD\\\\x0a&lt;script>alert(1)&lt;/script>"},
        {"a | b \\| c", "a \\| b \\\\\\| c"},
        {"`code` *strong* _it_ ~~gone~~", "\\`code\\` \\*strong\\* \\_it\\_ \\~\\~gone\\~\\~"},
        {"[text](http://x) ![i](y)", "\\[text\\](http\\://x) !\\[i\\](y)"},
        {"see www.x.org, me@x.org, https://x", "see www\\.x.org, me\\@x.org, https\\://x"},
        {"&lt;b&gt; R&D $x$", "&amp;lt;b&amp;gt; R&amp;D \\$x\\$"},
        {"# heading", "\\# heading"},
        {"- item", "\\- item"},
        {"> quote", "&gt; quote"},
        {"12. item", "12\\. item"},
        {"12) item", "12\\) item"},
        {"    code", "&#32;   code"},
        {"---", "\\---"},
        {"===", "\\==="},
        {"--std=c++17 -x", "--std=c++17 -x"},
        {"580.159.04", "580.159.04"},
        {"a_b__c _d", "a_b__c \\_d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(tki_put_markdown, cases[i][0], cases[i][1]);
    expect(tki_put_markdown_code, "B = |x| <= 2^24", "`B = |x| <= 2^24`");
    expect(tki_put_markdown_code, "", "` `");
    expect(tki_put_markdown_code, "a``b", "```a``b```");
    expect(tki_put_markdown_code, "`", "`` ` ``");
    expect(tki_put_markdown_code, "a\n\n# b", "`a\\x0a\\x0a# b`");
}

TEST(test_xml)
{
    expect(tki_put_xml, "<a href=\"b\">&amp;]]>\n\t\033\x01",
           "&lt;a href=&quot;b&quot;&gt;&amp;amp;]]&gt;&#10;&#9;\\x1b\\x01");
    expect(tki_put_xml, "\uffff\xff\u202e", "\\u{ffff}\\xff\\u{202e}");
}

static void put_word(FILE *out, const char *text, size_t most)
{
    (void)most;
    tki_put_shell_word(out, text);
}

TEST(test_shell)
{
    expect(put_word, "kernels/gelu.c", "kernels/gelu.c");
    expect(put_word, "", "''");
    expect(put_word, "a b|c`d`$e", "'a b|c`d`$e'");
    expect(put_word, "it's", "'it'\\''s'");
    expect(put_word, "a\n'\\\u202e", "$'a\\x0a\\'\\\\\\xe2\\x80\\xae'");
}

/* A text that does not fit is cut where a character ends, whether it grows or not. */
TEST(test_places)
{
    char place[8];
    assert_int_equal(tki_escape_line("abc\033", 4, place, sizeof place), 4);
    assert_string_equal(place, "abc\\x1b");
    assert_int_equal(tki_escape_line("abcd\033", 5, place, sizeof place), 4);
    assert_string_equal(place, "abcd");
    assert_int_equal(tki_escape_lines("a\n\033b", 4, place, sizeof place), 4);
    assert_string_equal(place, "a\n\\x1bb");
    strcpy(place, "\033ab");
    tki_escape_in_place(place, sizeof place);
    assert_string_equal(place, "\\x1bab");
    strcpy(place, "abcdef\033");
    tki_escape_in_place(place, sizeof place);
    assert_string_equal(place, "abcdef");
}

TEST(test_json)
{
    char *text = tki_utf8("a\xff\u202e\n");
    assert_string_equal(text, "a\\xff\u202e\n");
    free(text);
}

/* Made of what is special somewhere, and of bytes. */
static void draw(tki_random *random, char text[64])
{
    static const char *const parts[] = {
        "<",        ">",    "&",  "|",  "`",    "``",     "\\",     "_",    "*", "[",  "]",      "(",   ")", "#",
        "\n",       "-",    "1.", " ",  "://",  "www.",   "a",      "B2",   "'", "\"", "]]>",    "$'",  "@", "~",
        "\xc2\x9b", "\033", "\r", "\t", "\x7f", "\u202e", "\u200b", "\xff", "=", "+",  "\uffff", "&lt;"};
    size_t used = 0;
    text[0] = 0;
    for (uint64_t count = tki_random_below(random, 12); count--;) {
        uint64_t which = tki_random_below(random, sizeof parts / sizeof *parts + 4);
        char byte[2] = {(char)(tki_random_below(random, 255) + 1), 0};
        const char *part = which < sizeof parts / sizeof *parts ? parts[which] : byte;
        used += (size_t)snprintf(text + used, 64 - used, "%s", part);
    }
}

TEST(test_anything)
{
    tki_random random = tki_random_stream(1, 0);
    char text[64];
    for (int i = 0; i < effort(200000); i++) {
        draw(&random, text);
        char *line = written(tki_put_terminal, text, SIZE_MAX), *xml = written(tki_put_xml, text, SIZE_MAX);
        char *page = written(tki_put_markdown, text, SIZE_MAX),
             *code = written(tki_put_markdown_code, text, SIZE_MAX);
        if (!is_visible(line, "") || !is_xml_text(xml) || !is_markdown_text(page) || !is_markdown_code(code))
            fail_msg("number %d: %s gives\n%s\n%s\n%s", i, line, xml, page, code);
        free(line);
        free(xml);
        free(page);
        free(code);
    }
}

/* The readers that all this rests on see what is wrong. */
TEST(test_readers)
{
    static const char *const raw[] = {"a\033", "a\x9b", "\xc2\x9b", "\u202e", "\u200b", "\xff"};
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
        assert_false(is_visible(raw[i], ""));
    static const char *const xml[] = {"<a", "a&b", "]]>", "\"", "&nbsp;", "\x01", "\uffff"};
    for (size_t i = 0; i < sizeof xml / sizeof *xml; i++)
        assert_false(is_xml_text(xml[i]));
    static const char *const page[] = {"# a", "a|b",  "<b>",      "`a`",   "*a*",   "_a_",   "[a]",    "a\nb",
                                       "- a", "1. a", "http://a", "www.a", "&a;",   "\\x1b", " a",     "> a",
                                       "a@b", "a\\",  "\\\\|",    "$a$",   "~~a~~", "===",   "\u202e", "1) a"};
    for (size_t i = 0; i < sizeof page / sizeof *page; i++)
        assert_false(is_markdown_text(page[i]));
    static const char *const code[] = {"``", "`a", "`a`b`", "`a``", "a", "`a\nb`"};
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        assert_false(is_markdown_code(code[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers), cmocka_unit_test(test_terminal), cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_xml),     cmocka_unit_test(test_shell),    cmocka_unit_test(test_places),
        cmocka_unit_test(test_json),    cmocka_unit_test(test_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
