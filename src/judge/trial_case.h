/* DECIDES. What a trial is: a case, and from what its inputs and its calls are drawn. */
#pragma once

#include "tokitai_verify.h"

/* Families beyond those of trials/families.h. */
enum { TKI_GIVEN_INPUTS = -1, TKI_ALL_PATTERNS = -2 };

enum { TKI_MOST_THREADS = 64 }; /* that coverage asks for */

typedef struct tki_trial {
    tk_case c;
    int family; /* an index into the families, or one of the above */
    uint64_t seed;
    int64_t chunk;            /* TKI_ALL_PATTERNS: which part of the domain */
    int threads;              /* of every call; 0: drawn for each */
    int alignment;            /* of every array in every call, a power of two; 0: drawn for each */
    bool where_memory_allows; /* too large for many machines: left out there, and the certificate says so */
    bool sampled;             /* of a large output some boxes are judged, and it has two calls */
    bool brief;               /* it has two calls: what it is for shows in values */
    bool found;               /* by coverage, see trials/explore.h: it stands in no list */
    int planted_count;
    int64_t planted[TK_MAX_PLANTED]; /* patterns and indices that are put among the inputs, where they are valid */
} tki_trial;
