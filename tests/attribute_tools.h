/* What contracts of tests are made of, and how to set the attributes of a case by name. */
#ifndef TESTS_ATTRIBUTE_TOOLS_H
#define TESTS_ATTRIBUTE_TOOLS_H

#include "model/case.h"

/* A tensor without an axis that is summed along, in a buffer of its own. */
#define APART .inner_axis = -1, .may_alias = -1

#define TEST_OPTIONS .attribute_count = sizeof test_options / sizeof *test_options, .attributes = test_options

static const tk_attribute test_options[] = {
    {.name = "label_smoothing",
     .text = "a share",
     .type = TK_ATTRIBUTE_REAL,
     .most = {.real = 1},
     .seen_by_kernel = true},
    {.name = "scale",
     .text = "a factor",
     .type = TK_ATTRIBUTE_REAL,
     .initial = {.real = 1},
     .least = {.real = -0x1.fffffep127},
     .most = {.real = 0x1.fffffep127},
     .seen_by_kernel = true},
    {.name = "ignore_index",
     .text = "an index that counts for nothing",
     .type = TK_ATTRIBUTE_INTEGER,
     .initial = {.integer = -100},
     .least = {.integer = INT64_MIN},
     .most = {.integer = INT64_MAX},
     .seen_by_kernel = true},
};

static inline void set_real(tk_case *c, const char *name, double value)
{
    c->attributes[tk_attribute_find(c->contract, name)].real = value;
}

static inline void set_integer(tk_case *c, const char *name, int64_t value)
{
    c->attributes[tk_attribute_find(c->contract, name)].integer = value;
}

static inline double real_of(const tk_case *c, const char *name)
{
    return c->attributes[tk_attribute_find(c->contract, name)].real;
}

static inline int64_t integer_of(const tk_case *c, const char *name)
{
    return c->attributes[tk_attribute_find(c->contract, name)].integer;
}

#endif
