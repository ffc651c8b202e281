/* What a source asks of where, when and how it is compiled, however it spells that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_file/source_uses.h"
#include "tests/unit_test.h"

enum { OWN = 1, SYSTEM };

/* Without a zero behind it: reading too far is seen under a sanitizer. */
static char *exact(const char *text)
{
    char *copy = malloc(strlen(text) ? strlen(text) : 1);
    assert_non_null(copy);
    memcpy(copy, text, strlen(text));
    return copy;
}

static unsigned of_source(const char *text)
{
    unsigned uses = 0;
    char *copy = exact(text);
    tki_uses_of_source(copy, strlen(text), &uses);
    free(copy);
    return uses;
}

static unsigned of_text(int from, const char *text)
{
    unsigned uses = 0;
    char *whole = NULL;
    assert_true(asprintf(&whole, "# 1 \"%s\"\n%s\n", from == OWN ? "source/kernel/a.c" : "/usr/include/a.h", text) >
                0);
    char *copy = exact(whole);
    tki_uses_of_text(copy, strlen(whole), &uses);
    free(copy);
    free(whole);
    return uses;
}

#define BIT(use) (1u << TKI_USE_##use)

TEST(sources)
{
    static const struct {
        const char *text;
        unsigned uses;
    } table[] = {
        {"#include \"tokitai_kernel.h\"\n#include <math.h>\nint x;\n", 0},
        {"#if __has_include(<x.h>)\n#endif", BIT(PRESENCE)},
        {"#if __has_include_next(<x.h>)\n#endif", BIT(PRESENCE)},
        {"#if __has_\\\ninclude(<x.h>)\n#endif", BIT(PRESENCE)},
        {"#if __has_\?\?/\ninclude(<x.h>)\n#endif", BIT(PRESENCE)},
        {"#define P(a, b) a##b\n#if P(__has, _include)(<x.h>)\n#endif", BIT(PRESENCE)},
        {"#define P(a, b) a%:%:b\n#if P(__has_inc, lude)(<x.h>)\n#endif", BIT(PRESENCE)},
        {"#define P(a, b) a##b\nint P(has, include);", 0},
        {"// __has_include\n/* __has_include */ \"__has_include\"", 0},
        {"#include \"/etc/hostname\"", BIT(INCLUDE)},
        {"#include </usr/include/math.h>", BIT(INCLUDE)},
        {"  #  include /* */ \"../x.h\"", BIT(INCLUDE)},
        {"%:include \"/x\"", BIT(INCLUDE)},
        {"#define F <math.h>\n#include F", BIT(INCLUDE)},
        {"#embed \"x.bin\"", BIT(DATA)},
        {"include \"/x\"", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (of_source(table[i].text) != table[i].uses)
            fail_msg("%s: %#x, not %#x", table[i].text, of_source(table[i].text), table[i].uses);
}

TEST(texts)
{
    static const struct {
        const char *text;
        unsigned uses;
    } table[] = {
        {"int x = 5; // __gcov_dump\n", 0},
        {"const char *d = \"Jan  1 2000\";", BIT(DATE)},
        {"const char *d = \"00:\" \"00:00\";", BIT(DATE)},
        {"const char *f = \"source/kernel/a.c\";", BIT(PATH)},
        {"const char *f = __builtin_FILE();", BIT(PATH)},
        {"__asm__(\".inc\" \"bin \\\"/etc/passwd\\\"\");", BIT(DATA)},
        {"__asm__(\".\\151ncbin \\\"x\\\"\");", BIT(DATA)},
        {"__asm__(\"\\x2eifdef x\");", BIT(ASSEMBLER)},
        {"__asm__(\".macro m\");", BIT(ASSEMBLER)},
        {"__asm__(\"nop\");", 0},
        {"int y = __builtin_constant_p(x);", BIT(FOLDING)},
        {"void __sanitizer_cov_trace_pc(void);", BIT(BUILD)},
        {"void f(void) __asm__(\"__gc\" \"ov_dump\");", BIT(BUILD)},
        {"__attribute__((no_sanitize_coverage, no_profile_instrument_function)) int f(void);", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (of_text(OWN, table[i].text) != table[i].uses)
            fail_msg("%s: %#x, not %#x", table[i].text, of_text(OWN, table[i].text), table[i].uses);
        assert_int_equal(of_text(SYSTEM, table[i].text), 0);
    }
}

TEST(symbols)
{
    unsigned uses = 0;
    tki_uses_of_symbol("__gmon_start__", true, &uses);
    tki_uses_of_symbol("tokitai_gelu_fwd", false, &uses);
    assert_int_equal(uses, 0);
    tki_uses_of_symbol("some_option", true, &uses);
    assert_int_equal(uses, BIT(WEAK));
    tki_uses_of_symbol("__gcov_dump.lto_priv.0", false, &uses);
    assert_int_equal(uses, BIT(WEAK) | BIT(BUILD));
}

TEST(every_use_has_a_word_and_a_meaning)
{
    for (int i = 0; i < TKI_USES; i++)
        assert_non_null(tki_use_meaning(tki_use_name((tki_use)i)));
    assert_null(tki_use_meaning("other"));
}

TEST(own_parts)
{
    char text[] =
        "a\n# 1 \"source/kernel/k.c\"\nb\n# 1 \"/usr/include/x.h\" 1\nc\n#line 2 \"source/include0/y.h\"\nd\n"
        "# 1 \"source/headers/tokitai_kernel.h\"\ne\n# 4 \"source/kernel/k.c\" 2\nf";
    const char *at = text;
    char name[64];
    assert_true(tki_text_next_file(&at, text + strlen(text), name, sizeof name));
    assert_string_equal(name, "kernel/k.c");
    assert_true(tki_text_next_file(&at, text + strlen(text), name, sizeof name));
    assert_string_equal(name, "include0/y.h");
    assert_true(tki_text_next_file(&at, text + strlen(text), name, sizeof name));
    assert_false(tki_text_next_file(&at, text + strlen(text), name, sizeof name));
    assert_int_equal(tki_text_own_parts(text, strlen(text)), 5);
    assert_memory_equal(text, "b\nd\nf", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources),   cmocka_unit_test(texts),
        cmocka_unit_test(symbols),   cmocka_unit_test(every_use_has_a_word_and_a_meaning),
        cmocka_unit_test(own_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
