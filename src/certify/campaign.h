/* RECORDS. One certification, from the subject to the verdict: a list of steps. */
#pragma once

#include "certify/outcome.h"

/* How many trials of a kernel file that held come again, and, above quick, late: small ones, in so many calls. */
enum { TKI_LATE_TRIALS = 24, TKI_LATE_ELEMENTS = 1 << 12, TKI_LATE_CALLS = 1 << 15 };
static inline int64_t tki_campaign_again(tk_level level)
{
    return level == TK_QUICK ? 40 : 160;
}

/* Opens the subject, takes all steps, and closes it again. The trials get their attributes. */
TK_MUST_USE tk_status tki_campaign_run(tki_subject *subject, tki_outcome *o, tki_trials *trials);

/* Runs the trials of the list until one fails; with keep_going, all that can be run. `share`: of all progress. */
TK_MUST_USE tk_status tki_campaign_try_all(tki_subject *subject, tki_outcome *o, const tki_trials *trials,
                                           double share);

/* Runs one. *over: no other is to be run. With keep_going that is when it cannot be run or has crashed too often. */
TK_MUST_USE tk_status tki_campaign_try(tki_subject *subject, tki_outcome *o, const tki_trial *trial, bool *over);
/* One call of it, unless that fails: then the whole of it decides, and if that holds the call alone. */
TK_MUST_USE tk_status tki_campaign_glance(tki_subject *subject, tki_outcome *o, const tki_trial *trial, bool *over);
