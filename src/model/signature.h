/* CHOOSES. The C interfaces of an op, which are made from its contract: that of its typed call and that of user kernels. */
#pragma once

#include "tokitai.h"

/* The type that a tensor's elements have in C: "void" where the case decides it, or C has none. */
const char *tki_element_type(const tk_param *param);

/* ABI 1 of user kernels has a member of tokitai_call for each of some attributes, and no place for others. */
bool tki_has_abi_1(const tk_contract *contract);

/* The tensor that the options stand before: the first output. */
int tki_first_output(const tk_contract *contract);
