/* CHOOSES. The constants of a kernel's source and code as sizes, indices, options, threads and elements of calls of the build that is judged.
 * Nothing that the kernel says or does while it runs has a part in them. */
#pragma once

#include "kernel_file/source_constants.h"
#include "trials/levels.h"

typedef struct tki_constant_trials {
    tki_trial *list;
    int count;
} tki_constant_trials;

/* How many there are at most. */
int64_t tki_constant_trials_most(tk_level level);

/* Cases like `base`, whose types and attributes they have. free() the list. TK_NO_MEMORY. */
TK_MUST_USE tk_status tki_constant_trials_make(tk_ctx *ctx, const tki_trial *base, const tk_certify_options *options,
                                               const tki_dictionary *dictionary, tki_constant_trials *trials);
