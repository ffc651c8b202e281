/* CHOOSES. The tensors of a definition at one point, with their derivatives in several directions: forward mode in MPFR, node by node, exact but for
 * the precision. Gradients are checked with it; no verdict rests on it. */
#pragma once

#include "interpret/program.h"

/* A number that moves. */
typedef struct tki_dual {
    struct tki_dual *next;
    bool kink; /* two branches meet at a value that it is made of, and go on in different ways */
    mpfr_t v;
    mpfr_t t[]; /* [directions] */
} tki_dual;

typedef struct tki_forward {
    const tki_interpreter *in;
    int precision, directions;
    tki_dual **
        *tensor; /* [tensor_count][elements]; NULL: an input that stays as its buffer has it, or one that is absent */
    int64_t *count; /* [tensor_count] */
    double left;    /* values that may be computed yet */
    tki_dual *unused, *last_resort;
    tk_status status;
} tki_forward;

/* On TK_OK the caller ends it; `in` has to live until then. */
TK_MUST_USE tk_status tki_forward_begin(tki_forward *f, const tki_interpreter *in, int precision, int directions);
void tki_forward_end(tki_forward *f);

/* The elements of an input as its buffer has them, none of which moves yet: for the caller to change. NULL, with the status set: no memory. */
tki_dual **tki_forward_open(tki_forward *f, int tensor);

/* All other tensors that the case has. TK_BAD_ARGUMENT: that would take too long. What is not defined is NaN, and so is an index where several may
 * be chosen. A cast hands derivatives on. */
TK_MUST_USE tk_status tki_forward_run(tki_forward *f);

/* Is it a number, and each of its derivatives? */
bool tki_dual_is_number(const tki_forward *f, const tki_dual *a);
