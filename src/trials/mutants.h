/* CHOOSES. The mutants of an op, judged by the quick trials: what shows that those trials can tell. */
#pragma once

#include "model/mutant.h"
#include "tokitai_verify.h"
#include "trials/kept_mutants.h"

typedef struct tki_mutant_record {
    const tki_mutant *mutant;
    bool rejected;
    bool could_not_run; /* in one of the trials that it was not rejected by */
    int clause;         /* the one that rejected it */
    char reason[512];
} tki_mutant_record;

typedef struct tki_mutants {
    tki_mutant_record *list; /* [count]; free() it */
    int count;
    uint64_t seed;            /* of their trials */
    char build[TKI_HASH_HEX]; /* of the judge, that the seed follows from; "" if it cannot be told */
    char kept[TKI_DATE_TEXT]; /* when another process of this build judged them; "": this one has */
} tki_mutants;

typedef struct tki_mutants_asked {
    bool fresh;           /* by this process, whatever is kept */
    const uint64_t *seed; /* this one, and by this process; NULL: their own, by build, op and types */
} tki_mutants_asked;

/* Those that the quick trials can reject. Nothing of a certificate's subject, its seed or its options goes into this, so their verdicts are the
 * same for all certificates of a build: a process judges them once for an op and its types, and keeps them for others
 * (kept_mutants.h) unless one of them could not be run. TK_TIMEOUT: the context's deadline was over before all were judged, and nothing
 * is kept, since that must not depend on the time that is left to one certificate. `progress` may be NULL, and tells of parts from 0 to 1. Safe in several threads,
 * each with a context of its own. */
TK_MUST_USE tk_status tki_mutants_judge(tk_ctx *ctx, const tk_contract *contract, tk_types types,
                                        tk_dtype index_dtype, tki_mutants_asked asked, tk_progress progress,
                                        void *progress_data, tki_mutants *mutants);
