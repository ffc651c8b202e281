/* CHOOSES. From a failing trial to a small one that still fails. */
#pragma once

#include "judge/trial.h"

/* On entry a failing trial with its inputs and result; on return a smaller one, or the same: one that passes if any
 * size loses its first or its last place, unless finding it took too many runs. The inputs are replaced. */
TK_MUST_USE tk_status tki_shrink(tki_subject *subject, tki_trial *trial, tki_inputs *inputs,
                                 tki_trial_result *result);
