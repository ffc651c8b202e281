/* CHOOSES. Calls between trials, of which nothing is judged. */
#pragma once

#include "judge/trial.h"

/* A call of the other element type and, in half of the trials, of the other type of index, as any program may make between two calls: what
 * a kernel keeps of one type must not be taken for what it keeps of the other. What it gives is judged where that type is. */
TK_MUST_USE tk_status tki_trial_visit(tki_subject *subject, const tki_trial *trial);
