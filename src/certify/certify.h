/* RECORDS. tk_certify() in two steps, for who runs other trials than those that a level has now. */
#pragma once

#include "trials/levels.h"

/* Checks the options and makes the trials that they ask for. free() the list. */
TK_MUST_USE tk_status tki_certify_trials_make(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype,
                                              tk_dtype index_dtype, const tk_certify_options *options,
                                              tki_trials *trials);

/* Gives these trials, of which there is at least one, their attributes, and runs them. *held (may be NULL) receives how many of them held: if not all did, that is the
 * place of the one that failed or could not be run, the last that was tried. *mutants_seed, if it is not NULL, is that of the mutants, which are
 * then judged by this process whatever is kept. */
TK_MUST_USE tk_status tki_certify_trials(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype,
                                         tk_dtype index_dtype, const tk_certify_options *options,
                                         const uint64_t *mutants_seed, tki_trials *trials, int64_t *held,
                                         tk_certificate **certificate);
