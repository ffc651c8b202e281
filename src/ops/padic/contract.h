/* DECIDES. The attributes of padic_gemm, and which of them go together. */
#pragma once

#include "core/export.h"
#include "tokitai.h"

enum { TKI_PADIC_A, TKI_PADIC_B, TKI_PADIC_C }; /* parameters */
enum { TKI_PADIC_PRIME, TKI_PADIC_PRECISION };  /* attributes */
enum { TKI_PADIC_M, TKI_PADIC_N, TKI_PADIC_K }; /* sizes */
enum { TKI_PADIC_ERR };                         /* clauses */
enum { TKI_PADIC_MOST_PRECISION = 64 };

/* Decided, not guessed: Miller and Rabin's test with the bases that suffice below 2^64. */
TKI_EXPORT bool tki_is_prime(uint64_t n);

/* prime^precision, where 0 stands for 2^64; false if it is larger. */
TKI_EXPORT bool tki_padic_modulus(uint64_t prime, int64_t precision, uint64_t *modulus);
