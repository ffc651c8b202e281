/* SHOWS. tokitai ops --proof: from clauses to theorems to files. */
#pragma once

#include "cli/cli.h"

/* The chain of one op, or with NULL all theorems, those of no clause included. */
cli_exit cli_ops_proof(const tk_contract *contract, bool json);
