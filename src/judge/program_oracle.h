/* DECIDES. The oracle of an op whose exact values a program gives: what its own functions say of each element. */
#pragma once

#include "exact/oracle.h"

extern const tki_oracle tki_program_oracle;
