/* cmocka with the headers that it needs, and how a test begins. */
#ifndef TKI_TESTS_UNIT_TEST_H
#define TKI_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* The head of a test that has no use for the state that a set-up may leave. */
#define TEST(name) static void name(__attribute__((unused)) void **unused)

/* In a program's list: a test between its enter() and its leave(). */
#define ENTERED(test) cmocka_unit_test_setup_teardown(test, enter, leave)

/* How often a randomised test draws: so often, times TOKITAI_EFFORT, which may be below 1. */
static inline int effort(int draws)
{
    const char *factor = getenv("TOKITAI_EFFORT");
    const double wanted = factor ? draws * atof(factor) : draws;
    return wanted < 1 ? 1 : wanted > INT32_MAX ? INT32_MAX : (int)wanted;
}

/* Of a test that counts what it has met: never less often. */
static inline int effort_from(int draws)
{
    const int wanted = effort(draws);
    return wanted < draws ? draws : wanted;
}

#endif
