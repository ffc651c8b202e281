/* DECIDES. The arrays that a trial is run on: drawn from its seed, or given. */
#pragma once

#include "judge/trial_case.h"

/* Inputs that a trial owns: in contract order, NULL for outputs. */
typedef struct tki_inputs {
    void *data[TK_MAX_PARAMS];
} tki_inputs;

TK_MUST_USE tk_status tki_inputs_alloc(tk_ctx *ctx, const tk_case *c, tki_inputs *inputs);
void tki_inputs_free(tki_inputs *inputs);

/* Given inputs have to lie in the case's domain, of which alone the contract speaks; the first that does not is named. */
TK_MUST_USE tk_status tki_inputs_check_domain(tk_ctx *ctx, const tk_case *c, const void *const data[]);

TK_MUST_USE tk_status tki_inputs_copy(tk_ctx *ctx, const tk_case *c, const tki_inputs *inputs, tki_inputs *copy);

/* Copies the part [begin, end) of size `dim` out of a case and its inputs. False if an index would point outside the
 * part (an ignored target may) or memory ran out; *status tells which. */
TK_MUST_USE bool tki_inputs_slice(tk_ctx *ctx, const tk_case *c, const tki_inputs *inputs, int dim, int64_t begin,
                                  int64_t end, tk_case *part, tki_inputs *part_inputs, tk_status *status);

/* Copies the same part out of one tensor, of any rank: `part` is the case with that size cut. */
void tki_tensor_slice(const tk_case *c, int p, int dim, int64_t begin, const tk_case *part, const void *from,
                      void *to);

/* Changes one element of one input to another value that the op takes. False if there is none to change. */
bool tki_inputs_change(const tki_trial *trial, tki_inputs *inputs, int *changed, int64_t *position);

/* Swaps elements of one input, a multiple of eight places apart, of which *position is one: sums, exclusive ors and samples of it stay what
 * they are. False if there are none that differ. */
bool tki_inputs_swap(const tki_trial *trial, tki_inputs *inputs, int *changed, int64_t *position);

void tki_inputs_set_index(tk_dtype dtype, void *data, int64_t i, int64_t value);

/* Of the whole array of a parameter. */
size_t tki_param_bytes(const tk_case *c, int p);
