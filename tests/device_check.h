/* Checks of plain programs that are carried to a machine with a GPU: they go on, and the program's end counts. */
#ifndef TESTS_DEVICE_CHECK_H
#define TESTS_DEVICE_CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(condition, ...)                                            \
    do {                                                                 \
        if (!(condition)) {                                              \
            failures++;                                                  \
            printf("FAILED %s:%d %s: ", __FILE__, __LINE__, #condition); \
            printf(__VA_ARGS__);                                         \
            printf("\n");                                                \
        }                                                                \
    } while (0)

#endif
