/* CHOOSES. Trials in which each set of an op's attributes meets each kind of size and of value. */
#pragma once

#include "model/trial_hints.h"
#include "tokitai_verify.h"

/* Takes a trial: a case with sizes and attributes, and its family. */
typedef void tki_each_choice_take(void *context, const tk_case *c, int family);

/* Gives every trial that the level has beyond the one below, in the same order each time; `turn` decides which of several sizes a set gets
 * where it does not get all. `like` has the types and the attributes that kernels do not see; `given`: all attributes, the only set. */
void tki_each_choice(const tk_case *like, const tki_trial_hints *hints, bool given, tk_level level, uint64_t turn,
                     tki_each_choice_take *take, void *context);
