/* TRUSTED. Which trials a level consists of: shapes, families, seeds, options. */
#ifndef TKI_VERIFY_CASES_H
#define TKI_VERIFY_CASES_H

#include "tokitai_verify.h"

/* Families beyond those of families.h. */
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
    bool found;               /* by coverage, see explore.h: it stands in no list */
    int planted_count;
    int64_t planted[TK_MAX_PLANTED]; /* patterns and indices that are put among the inputs, where they are valid */
} tki_trial;

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

#endif
