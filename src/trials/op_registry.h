/* TRUSTED. The oracle, the mutants and the variants of each op, from ops.def. */
#pragma once

#include "exact/oracle.h"
#include "model/mutant.h"

const tki_oracle *tki_oracle_of(const tk_contract *contract);

/* These lists end with a row whose name is NULL. */
const tki_mutant *tki_mutants_of(const tk_contract *contract);
const tki_variant *tki_variants_of(const tk_contract *contract);

const tki_mutant *tki_mutant_find(const tk_contract *contract, const char *name);
const tki_variant *tki_variant_find(const tk_contract *contract, const char *name);
