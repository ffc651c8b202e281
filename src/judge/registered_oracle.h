/* TRUSTED. The oracle of ops that programs register. */
#pragma once

#include "judge/judge.h"
#include "tokitai_verify.h"

extern const tki_oracle tki_reference_oracle;
