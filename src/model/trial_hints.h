/* CHOOSES. What an op says of the trials of its kernels: how attributes are chosen, the integers that go with them, and what a trial may cost. */
#pragma once

#include "core/random.h"
#include "tokitai.h"

/* What the inputs of the trial are like. */
typedef struct tki_draw {
    bool sharp;    /* a mistake in the gradient of what is certain should show */
    bool infinite; /* there are infinities, and this trial is for the limits of attributes */
} tki_draw;

/* What the elements of a family are like in the terms of an op that draws its own. */
typedef enum tki_drawn {
    TKI_DRAW_BITS,    /* every pattern equally likely */
    TKI_DRAW_LARGEST, /* the largest ones */
    TKI_DRAW_PLAIN,   /* every value equally likely */
    TKI_DRAW_SPARSE,  /* zeros, and others among them */
    TKI_DRAW_CANCEL,  /* terms that cancel, so that results are at the ends of what they can be */
    TKI_DRAW_TELLING  /* those at which the op's own mistakes show */
} tki_drawn;

/* Each may be NULL or 0: then trials go by the contract alone. */
typedef struct tki_trial_hints {
    /* Sets the attributes of a case whose sizes are set. */
    void (*draw)(tk_case *c, const tki_draw *how, tki_random *random);
    /* Further trials: sets sizes and attributes of the i-th. Where exponentials are added, its rows have one element far above the
     * others; where numbers are, they are the largest for an even i, and for an odd one terms cancel. */
    int further_count;
    void (*further)(tk_case *c, int i, tki_random *random);
    /* Fills an input of integers, where what matters depends on the attributes. */
    void (*fill)(const tk_case *c, int param, tki_drawn how, void *data, tki_random *random);
    /* Few sets of attributes, for which kernels have code of their own: each meets every kind of size and value. */
    int set_count;
    void (*set)(tk_case *c, int i);
    /* What the exact values of a case cost is not known from its sizes: trials stay small, and there are some at the sizes at which any op
     * may stumble. */
    bool cost_is_open;
} tki_trial_hints;

extern const tki_trial_hints tki_no_hints;
