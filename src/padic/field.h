/* SHOWS. Elimination modulo a prime below 2^26, in which sums of thousands of products fit in 64 bits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PADIC_FIELD_BITS = 26 };

/* The largest prime below n, which is at most 2^26. */
uint64_t padic_prime_below(uint64_t n);

uint64_t padic_field_inverse(uint64_t x, uint64_t prime);

/* The inverse of a matrix of residues in its place, [n, n]. False if it is singular; the matrix is then spoilt. */
bool padic_field_invert(uint64_t *matrix, int64_t n, uint64_t prime);

/* The rank; the matrix is spoilt. rows[i] and cols[i] become those of the i-th pivot, and *determinant its value, if it is
 * not NULL. */
int64_t padic_field_rank(uint64_t *matrix, int64_t n, uint64_t prime, int64_t *rows, int64_t *cols,
                         uint64_t *determinant);
