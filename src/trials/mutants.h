/* TRUSTED. The planted wrong kernels of an op, judged by the quick trials: what shows that those trials can tell. */
#ifndef TKI_TRIALS_MUTANTS_H
#define TKI_TRIALS_MUTANTS_H

#include "model/mutant.h"
#include "tokitai_verify.h"

typedef struct tki_mutant_record {
    const tki_mutant *mutant;
    bool rejected;
    int clause; /* the one that rejected it */
    char reason[512];
} tki_mutant_record;

/* Those that the quick trials can reject; `*records` is to be freed. Nothing of a certificate's subject goes into this, so a process judges
 * them once for an op, its types and a seed, and certificates that come later are given the same records. `progress` may be
 * NULL, and tells of parts from 0 to 1. Safe in several threads, each with a context of its own. */
TK_MUST_USE tk_status tki_mutants_judge(tk_ctx *ctx, const tk_contract *contract, tk_types types,
                                        tk_dtype index_dtype, uint64_t seed, tk_progress progress,
                                        void *progress_data, tki_mutant_record **records, int *count);

#endif
