/* Which primes, precisions and elements trials of padic_gemm take. */
#ifndef TKI_OPS_PADIC_TRIALS_H
#define TKI_OPS_PADIC_TRIALS_H

#include "model/draw.h"

extern const tki_attribute_trials tki_padic_gemm_trials;

#endif
