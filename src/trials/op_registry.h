/* CHOOSES. How kernels of an op are judged: oracle, mutants, variants, hints for trials. Those of ours are from ops.def. */
#pragma once

#include "exact/oracle.h"
#include "model/mutant.h"
#include "model/op.h"
#include "model/trial_hints.h"
#include "tokitai_verify.h"

struct tki_judging {
    const tki_oracle *oracle;
    const tki_mutant *mutants;   /* ends with a row whose name is NULL */
    const tki_variant *variants; /* as above */
    const tki_trial_hints *hints;
    const tk_support *supports; /* beside the marks of proofs/; ends with a row without a clause, or NULL */
    bool
        is_of_this_build; /* what its mutants are judged to be is as long as the build, and kept for other processes */
};

/* NULL: no exact values are known. */
const tki_judging *tki_judging_of(const tk_contract *contract);

const tki_oracle *tki_oracle_of(const tk_contract *contract); /* NULL as above */

/* The same, and its tables. TK_UNAVAILABLE: no exact values are known. */
TK_MUST_USE tk_status tki_oracle_open(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype,
                                      const tki_oracle **oracle, void **tables);

const tki_trial_hints *tki_hints_of(const tk_contract *contract);
const tki_mutant *tki_mutants_of(const tk_contract *contract);
const tki_variant *tki_variants_of(const tk_contract *contract);

const tki_mutant *tki_mutant_find(const tk_contract *contract, const char *name);
const tki_variant *tki_variant_find(const tk_contract *contract, const char *name);
