/* Inside the program tokitai-generate, which writes what is made from the contracts when Tokitai is built. It is linked to the contracts and
 * to nothing else of the project. */
#ifndef GENERATE_H
#define GENERATE_H

#include <stdio.h>

#include "tokitai.h"

/* In the order of ops/ops.def; NULL past the end. */
const tk_contract *generate_contract_at(int i);

/* ABI 1 of users' kernels has a member of tokitai_call for each of some attributes, and no place for others. */
bool generate_has_abi_1(const tk_contract *contract);

/* The attributes in tokitai_call, each once, in the order of the members; returns how many. */
int generate_call_members(const tk_attribute *members[TK_MAX_ATTRIBUTES]);

void generate_kernel_calls(FILE *out);

#endif
