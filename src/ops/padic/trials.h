/* Which primes, precisions and elements trials of padic_gemm take. */
#pragma once

#include "model/draw.h"

extern const tki_attribute_trials tki_padic_gemm_trials;
