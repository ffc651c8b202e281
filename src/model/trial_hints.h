/* CHOOSES. What an op says of the trials of its kernels: how attributes are chosen, the integers that go with them, and what a trial may cost. */
#pragma once

#include "core/random.h"
#include "tokitai_verify.h"

enum { TKI_NO_SETS = -1 };

/* Each may be NULL or 0: then trials go by the contract alone. As in tk_reference, for programs. */
typedef struct tki_trial_hints {
    /* What the exact values of a case cost; NULL: its tensors and the product of its sizes say it. */
    double (*work)(const tk_case *c);
    /* Sets the attributes of a case whose sizes are set. */
    void (*draw)(tk_case *c, const tk_draw *how, tki_random *random);
    /* Further trials: sets sizes and attributes of the i-th. Where exponentials are added, its rows have one element far above the
     * others; where numbers are, they are the largest for an even i, and for an odd one terms cancel. From `swept` on, if not 0, the
     * distance of that one goes through all of several octaves. */
    int further_count, swept;
    void (*further)(tk_case *c, int i, tki_random *random);
    /* Fills an input of integers, where what matters depends on the attributes. */
    void (*fill)(const tk_case *c, int param, tk_drawn how, void *data, tki_random *random);
    /* Few sets of attributes, for which kernels have code of their own: each meets every kind of size and value. */
    int set_count; /* TKI_NO_SETS: not even those that follow from the contract */
    void (*set)(tk_case *c, int i);
} tki_trial_hints;

extern const tki_trial_hints tki_no_hints;
