/* How trials choose the attributes that kernels see. An op that knows better than to take the contract's list of values says so here, in its
 * trials.c. */
#ifndef TKI_MODEL_DRAW_H
#define TKI_MODEL_DRAW_H

#include "core/random.h"
#include "tokitai.h"

/* What the inputs of the trial are like. */
typedef struct tki_draw {
    bool sharp;    /* a mistake in the gradient of what is certain should show */
    bool infinite; /* there are infinities, and this trial is for the limits of attributes */
} tki_draw;

typedef struct tki_attribute_trials {
    /* Sets the attributes of a case whose sizes are set. */
    void (*draw)(tk_case *c, const tki_draw *how, tki_random *random);
    /* Further trials, on rows with one element far above the others: sets sizes and attributes of the i-th. */
    int further_count;
    void (*further)(tk_case *c, int i, tki_random *random);
} tki_attribute_trials;

#endif
