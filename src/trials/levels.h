/* CHOOSES. Which trials a level consists of: shapes, families, seeds, options. */
#pragma once

#include "judge/trial_inputs.h"

typedef struct tki_trials {
    tki_trial *list;
    int64_t count;
} tki_trials;

/* The type of the results that the options ask for. */
static inline tk_dtype tki_result_dtype(tk_dtype dtype, const tk_certify_options *options)
{
    return options->result_dtype ? *options->result_dtype : dtype;
}

/* The trials of a level, small shapes first. Restrictions in the options (shape, family, attributes, inputs) are
 * obeyed. free() the list. TK_NO_MEMORY or, when the restrictions leave nothing, TK_BAD_ARGUMENT. */
TK_MUST_USE tk_status tki_trials_make(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                                      const tk_certify_options *options, tki_trials *trials);

const char *tki_trial_family_name(const tki_trial *trial);

/* The same case with the same inputs. */
bool tki_trial_same(const tki_trial *a, const tki_trial *b);

/* Fills the inputs of a trial whose inputs are not given. */
void tki_trial_fill(const tki_trial *trial, void *const data[]);

/* The inputs of a trial: those of its family, or those that the options give. */
TK_MUST_USE tk_status tki_inputs_make(tk_ctx *ctx, const tki_trial *trial, const tk_certify_options *options,
                                      tki_inputs *inputs);
