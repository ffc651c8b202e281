/* DECIDES. Matrix products modulo p^N: what they promise. The exact value is in oracle.c, the kernel in kernel_cpu.c. */
#include "ops/padic/contract.h"

#include "model/contract_parts.h"

static const char *refusal(const tk_case *c);

/* clang-format off */ /* one row below the other */

const tk_contract tki_padic_gemm_contract = {
    .name = "padic_gemm",
    .summary = "matrix product modulo p^N, exactly",
    .formula = "c = a b modulo p^N: c[i,j] = (sum over t < k of a[i,t] b[t,j]) mod p^N, 0 <= c < p^N; p = prime, "
               "N = precision",
    .bound = "B = 0: integers are compared as they are",
    .notes =
        "An element is a p-adic integer to N digits. Any 64-bit number is taken and stands for its residue. A term "
        "vanishes where the valuations of its factors add up to N or more; kernels may leave such terms out.",
    TKI_SIZES("m", "n", "k"),
    TKI_PARAMS(
        [TKI_PADIC_A] = TKI_INPUT("a", TK_KIND_FIXED, 1, TKI_SHAPE(TKI_PADIC_M, TKI_PADIC_K), .dtype = TK_U64),
        [TKI_PADIC_B] = TKI_INPUT("b", TK_KIND_FIXED, 0, TKI_SHAPE(TKI_PADIC_K, TKI_PADIC_N), .dtype = TK_U64),
        [TKI_PADIC_C] = TKI_OUTPUT("c", TK_KIND_FIXED, -1, TKI_SHAPE(TKI_PADIC_M, TKI_PADIC_N), .dtype = TK_U64,
                                   .judged = TK_BY_INTEGER)),
    .type_count = 1,
    .types = (const tk_types[]){{TK_U64, TK_U64}},
    TKI_ATTRIBUTES(
        [TKI_PADIC_PRIME] = {.name = "prime",
                             .text = "p, a prime; p^N is at most 2^64",
                             .type = TK_ATTRIBUTE_INTEGER,
                             .initial = {.integer = 7},
                             .least = {.integer = 2},
                             .most = {.integer = INT64_MAX},
                             .seen_by_kernel = true},
        [TKI_PADIC_PRECISION] = {.name = "precision",
                                 .text = "N, the number of digits to base p that are kept",
                                 .type = TK_ATTRIBUTE_INTEGER,
                                 .initial = {.integer = 16},
                                 .least = {.integer = 1},
                                 .most = {.integer = TKI_PADIC_MOST_PRECISION},
                                 .seen_by_kernel = true}),
    .refusal = refusal,
    TKI_CLAUSES(
        [TKI_PADIC_ERR] = {TK_CLAUSE_ERROR, "PADIC_GEMM.ERR",
                           "every c is the residue of the exact sum modulo p^N, from 0 to p^N - 1"},
        TKI_WRITES("c", "a and b stay as they were"), TKI_TAKES(TKI_SUM_SHAPE_TEXT)),
};

/* clang-format on */

static uint64_t product_modulo(uint64_t a, uint64_t b, uint64_t n)
{
    return (uint64_t)((unsigned __int128)a * b % n);
}

/* Is n, which is odd, prime as far as this base tells? n - 1 = odd 2^twos. */
static bool passes(uint64_t n, uint64_t base, uint64_t odd, int twos)
{
    uint64_t power = 1;
    for (int bit = 63; bit >= 0; bit--) {
        power = product_modulo(power, power, n);
        if (odd >> bit & 1)
            power = product_modulo(power, base, n);
    }
    for (int i = 0; i < twos; i++) {
        if (power == n - 1 || (i == 0 && power == 1))
            return true;
        power = product_modulo(power, power, n);
    }
    return false;
}

bool tki_is_prime(uint64_t n)
{
    /* The first twelve primes: no composite below 2^64 passes with all of them. */
    static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    enum { BASES = sizeof bases / sizeof *bases };
    if (n < 2)
        return false;
    for (int i = 0; i < BASES; i++)
        if (n % bases[i] == 0)
            return n == bases[i];
    const int twos = __builtin_ctzll(n - 1);
    for (int i = 0; i < BASES; i++)
        if (!passes(n, bases[i], (n - 1) >> twos, twos))
            return false;
    return true;
}

bool tki_padic_modulus(uint64_t prime, int64_t precision, uint64_t *modulus)
{
    unsigned __int128 power = 1;
    for (int64_t i = 0; i < precision; i++) {
        if (power >> 64)
            return false;
        power *= prime;
    }
    *modulus = (uint64_t)power;
    return power <= (unsigned __int128)1 << 64;
}

static const char *refusal(const tk_case *c)
{
    uint64_t modulus;
    const uint64_t prime = (uint64_t)c->attributes[TKI_PADIC_PRIME].integer;
    if (!tki_is_prime(prime))
        return "prime is not a prime";
    if (!tki_padic_modulus(prime, c->attributes[TKI_PADIC_PRECISION].integer, &modulus))
        return "prime^precision is larger than 2^64";
    return NULL;
}
