/* SHOWS. p-adic integers: elements, inverses, roots, text. */
#include "padic/padic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/padic/contract.h"

typedef unsigned __int128 u128;

const char *padic_ring_make(padic_ring *ring, uint64_t prime, int64_t precision)
{
    if (!tki_is_prime(prime))
        return "p must be a prime";
    if (precision < 1 || precision > PADIC_MOST_PRECISION)
        return "N must be a number from 1 to 64";
    *ring = (padic_ring){.prime = prime, .precision = (int)precision};
    return tki_padic_modulus(prime, precision, &ring->modulus) ? NULL : "p^N must be at most 2^64";
}

padic_ring padic_ring_with(const padic_ring *ring, int precision)
{
    padic_ring other = {.prime = ring->prime, .precision = precision};
    (void)tki_padic_modulus(ring->prime, precision, &other.modulus);
    return other;
}

uint64_t padic_reduce(const padic_ring *ring, uint64_t x)
{
    return ring->modulus ? x % ring->modulus : x;
}

uint64_t padic_add(const padic_ring *ring, uint64_t x, uint64_t y)
{
    return ring->modulus ? (uint64_t)(((u128)x + y) % ring->modulus) : x + y;
}

uint64_t padic_negate(const padic_ring *ring, uint64_t x)
{
    x = padic_reduce(ring, x);
    return x ? ring->modulus - x : 0;
}

uint64_t padic_multiply(const padic_ring *ring, uint64_t x, uint64_t y)
{
    return ring->modulus ? (uint64_t)((u128)x * y % ring->modulus) : x * y;
}

int padic_split(const padic_ring *ring, uint64_t x, uint64_t *unit)
{
    int v = 0;
    x = padic_reduce(ring, x);
    *unit = 0;
    if (!x)
        return ring->precision;
    while (x % ring->prime == 0) {
        x /= ring->prime;
        v++;
    }
    *unit = x;
    return v;
}

int padic_valuation(const padic_ring *ring, uint64_t x)
{
    uint64_t unit;
    return padic_split(ring, x, &unit);
}

/* x^exponent in the ring. */
static uint64_t power_of(const padic_ring *ring, uint64_t x, uint64_t exponent)
{
    uint64_t result = padic_reduce(ring, 1);
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = padic_multiply(ring, result, x);
        x = padic_multiply(ring, x, x);
    }
    return result;
}

const char *padic_inverse(const padic_ring *ring, uint64_t x, uint64_t *inverse)
{
    const padic_ring field = padic_ring_with(ring, 1);
    x = padic_reduce(ring, x);
    if (x % ring->prime == 0)
        return "no inverse: p divides the number";
    uint64_t y = power_of(&field, x % ring->prime, ring->prime - 2); /* Fermat; of p = 2 it is 1 */
    for (int digits = 1; digits < ring->precision; digits *= 2)
        y = padic_multiply(ring, y, padic_add(ring, 2, padic_negate(ring, padic_multiply(ring, x, y))));
    *inverse = y;
    return NULL;
}

/* The polynomial, and its derivative. */
static uint64_t evaluate(const padic_ring *ring, const uint64_t *coefficients, int degree, uint64_t x,
                         uint64_t *slope)
{
    uint64_t value = 0;
    *slope = 0;
    for (int i = degree; i >= 0; i--) {
        *slope = padic_add(ring, padic_multiply(ring, *slope, x), value);
        value = padic_add(ring, padic_multiply(ring, value, x), padic_reduce(ring, coefficients[i]));
    }
    return value;
}

const char *padic_lift_root(const padic_ring *ring, const uint64_t *coefficients, int degree, uint64_t start,
                            uint64_t *root)
{
    uint64_t slope, inverse;
    uint64_t x = start % ring->prime;
    if (evaluate(ring, coefficients, degree, x, &slope) % ring->prime)
        return "the number is not a root modulo p";
    for (int digits = 1; digits < ring->precision; digits *= 2) {
        const uint64_t value = evaluate(ring, coefficients, degree, x, &slope);
        if (padic_inverse(ring, slope, &inverse))
            return "the root is not simple: p divides the derivative";
        x = padic_add(ring, x, padic_negate(ring, padic_multiply(ring, value, inverse)));
    }
    (void)evaluate(ring, coefficients, degree, x, &slope);
    if (slope % ring->prime == 0)
        return "the root is not simple: p divides the derivative";
    *root = x;
    return NULL;
}

uint64_t padic_from_integer(const padic_ring *ring, const mpz_t x)
{
    mpz_t rest;
    mpz_init(rest);
    if (ring->modulus)
        mpz_fdiv_r_ui(rest, x, ring->modulus);
    else
        mpz_fdiv_r_2exp(rest, x, 64);
    const uint64_t residue = mpz_get_ui(rest);
    mpz_clear(rest);
    return residue;
}

const char *padic_from_rational(const padic_ring *ring, const mpq_t x, uint64_t *residue)
{
    uint64_t inverse;
    if (padic_inverse(ring, padic_from_integer(ring, mpq_denref(x)), &inverse))
        return "p divides the denominator";
    *residue = padic_multiply(ring, padic_from_integer(ring, mpq_numref(x)), inverse);
    return NULL;
}

enum { MOST_DIGITS = 100000 };

/* Digits with a point among them, to a fraction of a power of ten. */
static bool parse_decimal(const char *text, size_t length, mpq_t x)
{
    const char *point = memchr(text, '.', length);
    char *digits = length <= MOST_DIGITS ? malloc(length + 1) : NULL;
    size_t count = 0;
    bool good = digits != NULL;
    for (size_t i = 0; i < length && good; i++) {
        const bool sign = i == 0 && (text[0] == '-' || text[0] == '+');
        good = sign || text + i == point || (text[i] >= '0' && text[i] <= '9');
        if (text + i != point && text[i] != '+')
            digits[count++] = text[i];
    }
    if (good) {
        digits[count] = 0;
        good = count > 0 && mpz_set_str(mpq_numref(x), digits, 10) == 0; /* not of "-" */
    }
    if (good) {
        mpz_ui_pow_ui(mpq_denref(x), 10, point ? (unsigned long)(text + length - point - 1) : 0);
        mpq_canonicalize(x);
    }
    free(digits);
    return good;
}

bool padic_parse_number(const char *text, mpq_t x)
{
    const char *slash = strchr(text, '/');
    mpq_t denominator;
    if (!slash)
        return parse_decimal(text, strlen(text), x);
    mpq_init(denominator);
    bool good = parse_decimal(text, (size_t)(slash - text), x) &&
                parse_decimal(slash + 1, strlen(slash + 1), denominator) && mpq_sgn(denominator) > 0;
    if (good)
        mpq_div(x, x, denominator);
    mpq_clear(denominator);
    return good;
}

const char *padic_from_text(const padic_ring *ring, const char *text, uint64_t *residue)
{
    mpq_t x;
    mpq_init(x);
    const char *reason = padic_parse_number(text, x) ? padic_from_rational(ring, x, residue) : "not a number";
    mpq_clear(x);
    return reason;
}

void padic_digits(const padic_ring *ring, uint64_t x, uint64_t *digits)
{
    x = padic_reduce(ring, x);
    for (int i = 0; i < ring->precision; i++) {
        digits[i] = x % ring->prime;
        x /= ring->prime;
    }
}

/* "", "*7" or "*7^3"; a digit of 1 is left out before it. */
static void print_term(const padic_ring *ring, uint64_t digit, int i, char *text, size_t size)
{
    char power[64] = "";
    const char *times = digit == 1 && i ? "" : "*";
    if (i)
        snprintf(power, sizeof power, "%s%llu", times, (unsigned long long)ring->prime);
    if (i > 1)
        snprintf(power + strlen(power), sizeof power - strlen(power), "^%d", i);
    if (digit == 1 && i)
        snprintf(text, size, "%s", power);
    else
        snprintf(text, size, "%llu%s", (unsigned long long)digit, power);
}

void padic_print(const padic_ring *ring, uint64_t x, char *text, size_t size)
{
    uint64_t digits[PADIC_MOST_PRECISION];
    size_t used = 0;
    if (!size)
        return;
    text[0] = 0;
    padic_digits(ring, x, digits);
    for (int i = 0; i < ring->precision && used < size; i++) {
        char term[128];
        if (!digits[i])
            continue;
        print_term(ring, digits[i], i, term, sizeof term);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " + " : "", term);
    }
    if (used < size)
        snprintf(text + used, size - used, "%sO(%llu^%d)", used ? " + " : "", (unsigned long long)ring->prime,
                 ring->precision);
}
