/* RECORDS. How lowerings that have a choice do the cases of a context: what was measured to be the fastest on its device ('tokitai tune'), else
 * what the lowering chooses, so that it is not chosen anew with every call. */
#pragma once

#include "model/lowering.h"

/* All zero of lowerings that have nothing to choose. */
tki_choice tki_chosen_for(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c);

/* From now on this case is done so, until another case takes its place: to be set before each call that is to be measured. */
TKI_EXPORT void tki_chosen_set(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, tki_choice choice);

/* The choice is the fastest on this device, by what was measured: kept in the cache for later contexts. Seconds of a call with what
 * choose() gives and with this choice. Fails if the choice is none of the lowering's candidates, or cannot be kept. */
TKI_EXPORT TK_MUST_USE tk_status tki_chosen_keep(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c,
                                                 tki_choice choice, double model_seconds, double best_seconds);

/* "choices for 4 cases are those that were measured on this device, tuning 0123456789ab..."; "" if the context has loaded no tuning of the
 * lowering for these types. */
TKI_EXPORT void tki_chosen_describe(const tk_ctx *ctx, const tki_lowering *lowering, tk_types types, char *text,
                                    size_t size);
