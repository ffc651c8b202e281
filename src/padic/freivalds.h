/* SHOWS. Is C = A B modulo p^N? Freivalds' check, and what a product may leave out. */
#pragma once

#include "padic/matrix.h"

/* How many vectors make the probability that a wrong product passes, p^-r, smaller than 2^-64. The difference of C and A B
 * has an entry that is not zero, p^v unit with v < N; a drawn vector passes only if it solves that row's equation modulo
 * p^(N - v), which one residue of p in place of that coordinate does at most: p^-1, whatever N is. */
int padic_check_vectors(const padic_ring *ring);

/* A x = C x for every one of them, x drawn from the seed. */
bool padic_check_product(const padic_ring *ring, const padic_matrix *a, const padic_matrix *b, const padic_matrix *c,
                         uint64_t seed, int vectors);

/* Places of the inner size at which every term vanishes: the least valuation in a column of A and that in a row of B add up
 * to N or more. */
int64_t padic_vanishing_slices(const padic_ring *ring, const padic_matrix *a, const padic_matrix *b);
