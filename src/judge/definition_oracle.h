/* DECIDES. The oracle of an op that was made of a definition: what the interpreter finds of each element. */
#pragma once

#include "exact/oracle.h"

extern const tki_oracle tki_definition_oracle;
