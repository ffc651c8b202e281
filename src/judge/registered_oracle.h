/* TRUSTED. The oracle of ops that programs register. */
#ifndef TKI_JUDGE_REGISTERED_ORACLE_H
#define TKI_JUDGE_REGISTERED_ORACLE_H

#include "judge/judge.h"
#include "tokitai_verify.h"

extern const tki_oracle tki_reference_oracle;

#endif
