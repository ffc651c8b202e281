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
        {"  #  include /* */ \"../x.h\"", BIT(PARENT)},
        {"#include \"/a/../x.h\"", BIT(INCLUDE)},
        {"%:include \"/x\"", BIT(INCLUDE)},
        {"#include <../lib/os-release>", BIT(INCLUDE)},
        {"#include_next \"../lib/os-release\"", BIT(INCLUDE)},
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
        {"__asm__(\".inc\" \"bin \\\"/etc/passwd\\\"\");", BIT(DATA) | BIT(ASSEMBLER)},
        {"__asm__(\".\\151ncbin \\\"x\\\"\");", BIT(DATA) | BIT(ASSEMBLER)},
        {"__asm__(\"\\x2eifdef x\");", BIT(ASSEMBLER)},
        {"__asm__(\".macro m\");", BIT(ASSEMBLER)},
        {"__asm__(\"nop\");", 0},
        {"__asm__ volatile(\"1: dec %0\\n\\t.p2align 4\\njnz 1b\" : \"+r\"(n));", 0},
        {"asm(\".byte 0x0f, 0x0b; vaddps .LC0(%rip), %ymm0, %ymm1\");", 0},
        {"const char *name = \".long\";", 0},
        {"__asm__(\"a: nop\\n .long a - b\");", BIT(ASSEMBLER) | BIT(LAYOUT)},
        {"__asm volatile(\"nop;.IF 1\");", BIT(ASSEMBLER)},
        {"__asm__(\"a:.set b, a\");", BIT(ASSEMBLER) | BIT(LAYOUT)},
        {"int y = __builtin_constant_p(x);", BIT(FOLDING)},
        {"void __sanitizer_cov_trace_pc(void);", BIT(BUILD)},
        {"void f(void) __asm__(\"__gc\" \"ov_dump\");", BIT(BUILD)},
        {"__attribute__((no_sanitize_coverage)) int f(void);", BIT(BUILD)},
        {"__attribute__((__no_profile_instrument_function__)) int f(void);", BIT(BUILD)},
        /* assert() as a header makes it, and what only looks like it */
        {"((n > 0) ? (void)0 : __assert_fail(\"n > 0\", \"source/kernel/a.c\", 3, __func__));", 0},
        {"if (n) ; else __assert_fail(\"n (\", \"source/kernel/a.c\", 3, f(1));", 0},
        {"((n > 0) ? (void)0 : __assert_fail(\"n\", \"x\", 3, f)); p = \"source/kernel/a.c\";", BIT(PATH)},
        {"__assert_fail(\"n > 0\", \"source/kernel/a.c\", 3, f);", BIT(PATH)},
        {"x = n ? 0 : __assert_failed(\"source/kernel/a.c\");", BIT(PATH)},
        {"x = n ? 0 : __assert_fail; f(\"source/kernel/a.c\");", BIT(PATH)},
        {"extern char _end[], __bss_start[];", BIT(LAYOUT)},
        {"extern char etext;", BIT(LAYOUT)},
        {"int end = begin + 1, etext = 2;", 0},
        {"extern int nothing; int end = 1;", 0},
        {"extern const char __start_mine[], __stop_mine[];", BIT(LAYOUT)},
        {"__asm__(\"lea __ehdr_start(%rip), %rax\");", BIT(LAYOUT)},
        {"__asm__(\"jne row_end\");", 0},
        {"dl_iterate_phdr(f, 0);", BIT(LAYOUT)},
        {"p = __builtin_return_address(0);", BIT(LAYOUT)},
        {"a: f(); b: return (char *)&&b - (char *)&&a;", BIT(LAYOUT)},
        {"a: f();\nb: n = 7 - x; return (long)(&& b) - 5;", BIT(LAYOUT)},
        {"a: f(); b: goto *(n ? &&a : &&b);", 0},
        {"static void *const to[] = {&&a, &&b}; a: f(n - 1); b: goto *to[n];", 0},
        {"if (n && m - 1) f(n&&k-- > 0);", 0},
        {"static void *const to[] = {&&a, &&b}; a: goto *to[n]; b: memcpy(of, to, 16);", BIT(LAYOUT)},
        {"void *p = &&a; a: goto *p;", 0},
        {"f(&&a); a:;", BIT(LAYOUT)},
        {"a: f(n ? (int)b : 0); g(&&a);", BIT(LAYOUT)},
        {"n = b > 1 ? (int)a : 0; if (b && a > 0) n = a - b;", 0},
        {"n = b ? c ? (int)a : (int)b : 0; if (b && a > 0) n = b - a;", 0},
        /* what an assembler knows of its labels */
        {"asm(\"movl $(b - a), %0\" : \"=r\"(n));", BIT(LAYOUT)},
        {"asm(\"leal b - a, %0\" : \"=r\"(n));", BIT(LAYOUT)},
        {"asm(\"mov $~a, %0\" : \"=r\"(n));", BIT(LAYOUT)},
        {"asm(\"movl $1f-1b, %0\" : \"=r\"(n));", BIT(LAYOUT)},
        {"asm(\"length = b - a\");", BIT(ASSEMBLER)},
        {"asm(\"\\t.if 1\");", BIT(ASSEMBLER)},
        {"asm(\"here:\"); asm(\"lea here(%%rip), %0\" : \"=r\"(p));", BIT(LAYOUT)},
        {"extern char here[]; asm(\"here: nop\");", BIT(LAYOUT)},
        {"asm(\"here: dec %0; jnz here\" : \"+r\"(n));", 0},
        {"asm(\"call 1f\\n1: pop %0\" : \"=r\"(p));", BIT(LAYOUT)},
        {"asm(\"lea 0(%%rip), %0\" : \"=r\"(p));", BIT(LAYOUT)},
        {"asm(\"lea (%%rip), %0\" : \"=r\"(p));", BIT(LAYOUT)},
        {"asm(\"movq -8(%%rsp), %0\" : \"=r\"(n));", BIT(LAYOUT)},
        {"asm(\"movq %%rsp, %0\" : \"=r\"(n));", BIT(LAYOUT)},
        {"register long place asm(\"rsp\");", BIT(LAYOUT)},
        {"asm(\"lea -128(%%rsp), %%rsp\\n call f\\n lea 128(%%rsp), %%rsp\");", 0},
        {"asm(\"movq -8(%0), %1; addq $-8, %0; vmovaps 0x1f(%2,%3,4), %%ymm0\" : \"+r\"(p));", 0},
        {"asm(\"fmla v0.4s, v1.4s, v2.s[0]\\n ldr q0, [x0, #-16]!\" : : : \"v0\", \"memory\");", 0},
        /* functions as numbers */
        {"int f(int n) { return n; } int g(void) { return (char *)g - (char *)f; }", BIT(LAYOUT)},
        {"int f(int n); int g(void) { return ((const unsigned char *)(uintptr_t)&f)[3]; }", BIT(LAYOUT)},
        {"void f(void); void g(void); int h(void) { return f - g; }", BIT(LAYOUT)},
        {"void f(void); void g(void); int h(void) { return f < g; }", BIT(LAYOUT)},
        {"int f(int n); long g(void) { long p; p = (long)*f; return p; }", BIT(LAYOUT)},
        {"int f(int n); long g(long n) { return n * 3 - (long)f; }", BIT(LAYOUT)},
        {"int f(int n); long g(void) { x(a, *f == 0, (long)f); }", BIT(LAYOUT)},
        {"int f(int n); long g(void) { return sizeof f + (long)f; }", BIT(LAYOUT)},
        {"int f(int n); long g(void) { if (1) h(); else f; return (long)f; }", BIT(LAYOUT)},
        {"char *index(int c); int g(T *c) { T *x = c, *y = c, *index = c; return ((int64_t *)index->data)[0]; }", 0},
        {"char *index(int c); long g(const T *index) { return (long)index; }", 0},
        {"real gamma(real x); int g(void) { real gamma = 1; return (int)gamma; }", 0},
        {"int up(int n); int g(long n) { const int64_t up = n; return (int)up; }", 0},
        {"int up(int n); int g(int up) { return (char)up; } int h(void) { return (int)up; }", BIT(LAYOUT)},
        {"int up(int n); int x(int up); int g(void) { return (int)up; }", BIT(LAYOUT)},
        {"int up(int n); int g(void) { { int up = 1; } return (int)up; }", BIT(LAYOUT)},
        {"int up(int n); int g(long n) { int up[2] = {n}; const long *h = up; return h[0]; }", 0},
        {"int f(int n); int g(void) { return (int)f(3) - (char)f(2); }", 0},
        {"int f(int n); int g(pair *p) { int (*h)(int) = n ? f : (call *)f; return (long)p->f; }", 0},
        {"__attribute__((optimize(\"no-profile-arcs\"))) int f(void);", BIT(BUILD)},
        {"#pragma GCC optimize (\"no-test\" \"-coverage\")", BIT(BUILD)},
        {"__attribute__((optimize(\"O3\", \"tree-vectorize\"))) int f(void);", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (of_text(OWN, table[i].text) != table[i].uses)
            fail_msg("%s: %#x, not %#x", table[i].text, of_text(OWN, table[i].text), table[i].uses);
        assert_int_equal(of_text(SYSTEM, table[i].text), 0);
    }
}

static unsigned of_conditions(const char *text)
{
    unsigned uses = 0;
    char *copy = exact(text);
    tki_uses_of_conditions(copy, strlen(text), &uses);
    free(copy);
    return uses;
}

/* Macros of which no source of the judge's tells how it was built. */
static const char *const of_builds[] = {"__PIE__",
                                        "__pie__",
                                        "__PIC__",
                                        "__OPTIMIZE__",
                                        "__OPTIMIZE_SIZE__",
                                        "__NO_INLINE__",
                                        "__FAST_MATH__",
                                        "__FINITE_MATH_ONLY__",
                                        "_OPENMP",
                                        "__STDC_VERSION__",
                                        "__STRICT_ANSI__",
                                        "__SSP_STRONG__",
                                        "__CET__",
                                        "_FORTIFY_SOURCE",
                                        "_REENTRANT",
                                        "__CHAR_UNSIGNED__",
                                        "NDEBUG",
                                        "__GLIBC_MINOR__",
                                        "__GNUC_MINOR__",
                                        "LINUX_VERSION_CODE",
                                        "__INCLUDE_LEVEL__",
                                        "__COUNTER__",
                                        "__LINE__",
                                        "__VERSION__",
                                        "__SANITIZE_ADDRESS__"};

TEST(each_macro_that_tells_the_build)
{
    static const char *const forms[] = {"#ifdef %s\n#endif",
                                        "#if 1\n#elif !defined( %s )\n#endif",
                                        "#if %s > 0\n#endif",
                                        "#define WRONG (%s != 0)\n",
                                        "int wrong = f(%s) == 0;",
                                        "# \\\nif defi\\\nned %s\n#endif",
                                        "#define OWN 1\n#if OWN && %s\n#endif"};
    char text[256];
    for (size_t i = 0; i < sizeof of_builds / sizeof *of_builds; i++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(text, sizeof text, forms[f], of_builds[i]);
#pragma GCC diagnostic pop
            if (of_conditions(text) != BIT(OPTIONS))
                fail_msg("%s: %#x", text, of_conditions(text));
        }
}

TEST(conditions)
{
    static const struct {
        const char *text;
        unsigned uses;
    } table[] = {
        {"#ifndef KERNEL_H_\n#define KERNEL_H_\n#endif\n#ifndef __K_HPP__\n#define __K_HPP__\n#endif", 0},
        {"#define TILE 64\n#if TILE % 8 == 0 && defined(TILE)\n#endif", 0},
        {"#ifndef M_PI\n#define M_PI 3.14\n#endif\ndouble x = M_PI + INFINITY;", 0},
        {"#define _GNU_SOURCE\n#undef NDEBUG\n#include <assert.h>", 0},
        {"#if 0\n#elif 1L\n#endif", 0},
        {"#ifdef __AVX2__\n#elif defined(__ARM_NEON)\n#endif", BIT(TARGET)},
        {"#if defined __x86_64__ && defined(__GNUC__)\n#endif", BIT(TARGET)},
        {"#ifdef __cplusplus\nextern \"C\" {\n#endif", BIT(TARGET)},
        {"#if __CUDA_ARCH__ >= 800\n#endif", BIT(TARGET)},
        {"#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__\n#endif", BIT(TARGET)},
        {"#if __GNUC__ >= 12\n#endif", BIT(OPTIONS)},
        {"#if __cplusplus >= 201703L\n#endif", BIT(OPTIONS)},
        {"#ifdef _STDIO_H\n#endif", BIT(OPTIONS)},
        {"#ifdef __NR_mseal\n#endif", BIT(OPTIONS)},
        {"#if __has_builtin(f)\n#endif", BIT(OPTIONS)},
        {"#if '\\377' < 0\n#endif", BIT(OPTIONS)},
        {"#define P(a, b) a##b\n#if P(__PI, E__)\n#endif", BIT(OPTIONS)},
        {"#define P(a, b) a##b\nint x = P(__OPTI, MIZE__);", BIT(OPTIONS)},
        {"const char *name = __FILE_NAME__;", BIT(PATH)},
        {"#define P(a, b) a##b\nconst char *name = P(__FILE_, NAME__);", BIT(PATH)},
        {"fprintf(stderr, text, __FILE__, __LINE__);", 0},
        {"say(__LINE__, __FILE__);", 0},
        {"float most = __FLT_MAX__; size_t n = __SIZEOF_INT__ ? 0 : 1;", BIT(TARGET)},
        {"__INT64_TYPE__ n; const char *f = __FUNCTION__; /* __PIE__ */ \"__PIE__\";", 0},
        {"__global__ void f(void) { __syncthreads(); }", 0},
        {"assert(n == 3 && m <= 4 && k != 2);", 0},
        {"assert((done = 1));", BIT(OPTIONS)},
        {"assert(n++ < 4);", BIT(OPTIONS)},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (of_conditions(table[i].text) != table[i].uses)
            fail_msg("%s: %#x, not %#x", table[i].text, of_conditions(table[i].text), table[i].uses);
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
    assert_true(tki_symbol_is_own("helper"));
    assert_false(tki_symbol_is_own("tokitai_gelu_fwd"));
    assert_false(tki_symbol_is_own("_ZNSt6vectorIfSaIfEE9push_backEOf"));
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
        cmocka_unit_test(sources),
        cmocka_unit_test(texts),
        cmocka_unit_test(symbols),
        cmocka_unit_test(every_use_has_a_word_and_a_meaning),
        cmocka_unit_test(own_parts),
        cmocka_unit_test(conditions),
        cmocka_unit_test(each_macro_that_tells_the_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
