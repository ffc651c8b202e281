/* TRUSTED. The oracle and the mutants of each op, from ops.def. */
#ifndef TKI_VERIFY_REGISTRY_H
#define TKI_VERIFY_REGISTRY_H

#include "core/mutant.h"
#include "exact/oracle.h"

const tki_oracle *tki_oracle_of(const tk_contract *contract);
const tki_mutant *tki_mutants_of(const tk_contract *contract); /* ends with a row whose name is NULL */
const tki_mutant *tki_mutant_find(const tk_contract *contract, const char *name);

#endif
