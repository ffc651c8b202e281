/* cmocka with the headers that it needs, and how a test begins. */
#ifndef TKI_TESTS_UNIT_TEST_H
#define TKI_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The head of a test that has no use for the state that a set-up may leave. */
#define TEST(name) static void name(__attribute__((unused)) void **unused)

/* In a program's list: a test between its enter() and its leave(). */
#define ENTERED(test) cmocka_unit_test_setup_teardown(test, enter, leave)

#endif
