/* SHOWS. p-adic integers to N digits: what `tokitai padic` computes with. A ring is Z/p^N; its elements are residues, from 0 to
 * p^N - 1. Functions that can fail return NULL, or the reason in one line. */
#pragma once

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct padic_ring {
    uint64_t prime;
    int precision;
    uint64_t modulus; /* prime^precision; 0 stands for 2^64 */
} padic_ring;

enum { PADIC_MOST_PRECISION = 64 };

/* The prime must be one, and the modulus at most 2^64. */
const char *padic_ring_make(padic_ring *ring, uint64_t prime, int64_t precision);

/* The same prime with fewer digits or more; the modulus must fit. */
padic_ring padic_ring_with(const padic_ring *ring, int precision);

uint64_t padic_reduce(const padic_ring *ring, uint64_t x);
uint64_t padic_add(const padic_ring *ring, uint64_t x, uint64_t y);
uint64_t padic_negate(const padic_ring *ring, uint64_t x);
uint64_t padic_multiply(const padic_ring *ring, uint64_t x, uint64_t y);

/* x = p^v unit, where the unit is known to N - v digits. That of 0 is N, and its unit 0. */
int padic_valuation(const padic_ring *ring, uint64_t x);
int padic_split(const padic_ring *ring, uint64_t x, uint64_t *unit);

/* Of a unit, by Newton's iteration from the inverse modulo p: each step doubles the digits. */
const char *padic_inverse(const padic_ring *ring, uint64_t x, uint64_t *inverse);

/* The root of a polynomial, coefficients from the constant on, that is `start` modulo p: Hensel's lemma. `start` must be a
 * root modulo p, and a simple one. */
const char *padic_lift_root(const padic_ring *ring, const uint64_t *coefficients, int degree, uint64_t start,
                            uint64_t *root);

/* From integers, from rationals whose denominator p does not divide, and from text: "12", "-3/4", "0.125". */
uint64_t padic_from_integer(const padic_ring *ring, const mpz_t x);
const char *padic_from_rational(const padic_ring *ring, const mpq_t x, uint64_t *residue);
const char *padic_from_text(const padic_ring *ring, const char *text, uint64_t *residue);

/* A number in text, and nothing behind it. False if it is none. */
bool padic_parse_number(const char *text, mpq_t x);

/* The digits from the lowest on, ring->precision of them. */
void padic_digits(const padic_ring *ring, uint64_t x, uint64_t *digits);

/* "4 + 2*7 + 7^3 + O(7^16)", cut to fit. */
void padic_print(const padic_ring *ring, uint64_t x, char *text, size_t size);
