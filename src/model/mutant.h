/* CHOOSES. Planted kernels, which run on the CPU and are judged exactly as a user kernel is. A mutant is wrong and must be refuted; each op
 * folder's mutants.c lists its own. A variant is right and must be held, although it computes in another way than
 * our kernels do; variants.c lists those. */
#pragma once

#include "model/format.h"
#include "tokitai_verify.h"

typedef struct tki_mutant {
    const char *name;      /* "tanh_form" */
    const char *what;      /* what is wrong with it, or what is different, one line */
    tk_kernel kernel;      /* called with a tki_mutant_run */
    const void *how;       /* which of its mistakes or ways the kernel is to take; in a form of its own */
    tk_level level;        /* mutants: the level whose trials reject it */
    bool only_f32_results; /* mutants: what it does is a mistake where results are of fp32, and none in 16 bits */
    uint32_t right_in; /* mutants: a bit for each type of results where it is right, or but for what a test gives */
    uint32_t right_of; /* mutants: the same of inputs, where results are of fp32 */
} tki_mutant;

typedef tki_mutant tki_variant;

/* Do the trials of that level have to reject it, in these types? */
static inline bool tki_mutant_is_wrong(const tki_mutant *mutant, tk_level level, tk_types types)
{
    return mutant->level <= level && (!mutant->only_f32_results || tki_holds_fp32(types.result_dtype)) &&
           !(mutant->right_in >> types.result_dtype & 1) &&
           !(tki_holds_fp32(types.result_dtype) && mutant->right_of >> types.dtype & 1);
}

/* What a planted kernel is handed as its user data. It begins as {mutant->how}, zero otherwise, and stays for all calls of one
 * judgement: mutants that keep something from one call to the next keep it here rather than in static variables. */
typedef struct tki_mutant_run {
    const void *how;
    int64_t calls;
    void *kept; /* the output of an earlier call; whoever made the run frees it */
    size_t kept_bytes;
} tki_mutant_run;
