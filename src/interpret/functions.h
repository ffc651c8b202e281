/* DECIDES. The functions of one argument that a definition may use, one row each: how they are enclosed, and what a careful evaluation of them in
 * fp32 may lose. docs/definitions.md derives the numbers. */
#pragma once

#include "define/definition.h"
#include "exact/elementary.h"
#include "exact/interval.h"
#include "interpret/blocks.h"

typedef enum tki_shape { TKI_RISING, TKI_FALLING, TKI_VALLEY /* falling up to `bend`, then rising */ } tki_shape;

typedef struct tki_function {
    double budget;    /* k: a careful evaluation is within k u of the result at an argument that is off by: */
    double perturbed; /* so many u of itself */
    double underflow; /* t */
    bool grows;       /* t times |argument|, from 1 on: it is a product with the argument */
    tki_shape shape;
    double bend;
    double least; /* of its domain; beyond it nothing is said */
    bool open;    /* `least` itself is not in the domain */
    double range_least, range_most;
    tki_value (*at_infinity)(bool positive);
    double (*at)(const tki_elementary *t, double x); /* with the errors of exact/elementary.h */
    void (*at_all)(const tki_elementary *t, const double x[], int count,
                   double y[]); /* the same of many, bit for bit; or NULL */
    void (*by_mpfr)(tki_interval *y, const tki_interval *x);
} tki_function;

/* NULL for a primitive that is none. */
const tki_function *tki_function_of(tki_primitive primitive);

/* f of a value, by the rule of functions. `flushes`: subnormal numbers become zero. */
tki_value tki_function_value(const tki_elementary *t, tki_primitive primitive, const tki_value *a, bool flushes);

/* The same of a block, of which all stays finite; else false, as for the rules of blocks.h. */
TK_MUST_USE bool tki_function_block(const tki_rules *rules, tki_primitive primitive, const tki_block *a, int count,
                                    tki_block *y);

/* [*lo, *hi] encloses f over [least, most], which lies in the domain. */
void tki_function_enclose(const tki_elementary *t, const tki_function *f, double least, double most, double *lo,
                          double *hi);
