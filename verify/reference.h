/* TRUSTED. The oracle of ops that programs register. */
#ifndef TKI_VERIFY_REFERENCE_H
#define TKI_VERIFY_REFERENCE_H

#include "tokitai_verify.h"
#include "verify/judge.h"

extern const tki_oracle tki_reference_oracle;

#endif
