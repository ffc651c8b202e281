/* How lowerings that have a choice do the cases of a context: what they chose when a case first came, so that it is not chosen anew
 * with every call. */
#ifndef TKI_EXECUTOR_CHOSEN_H
#define TKI_EXECUTOR_CHOSEN_H

#include "model/lowering.h"

/* All zero of lowerings that have nothing to choose. */
tki_choice tki_chosen_for(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c);

#endif
