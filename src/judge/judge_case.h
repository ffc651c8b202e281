/* DECIDES. All outputs of a case against the exact values of its inputs. */
#pragma once

#include "judge/judge.h"

typedef struct tki_judged_how {
    bool promised; /* by what our own lowerings promise */
    bool sampled;  /* some boxes of a large output */
} tki_judged_how;

/* `tensors` are inputs and outputs in contract order; `tables` are those that the oracle opened. Adds to *judgement.
 * TK_TIMEOUT: the context's deadline was over before that. */
TK_MUST_USE tk_status tki_judge_case(tk_ctx *ctx, const tki_oracle *oracle, const void *tables, const tk_case *c,
                                     const void *const tensors[], tki_judged_how how, tki_judgement *judgement);
