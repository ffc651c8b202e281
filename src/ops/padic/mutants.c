/* CHOOSES. Wrong kernels for padic_gemm, each with one line saying what is wrong. */
#include "ops/mutant_tools.h"
#include "ops/padic/contract.h"

typedef unsigned __int128 u128;

/* All clear is right. */
typedef struct mutation {
    bool not_reduced;       /* c is congruent, but not the residue */
    bool sum_of_64_bits;    /* what is beyond 2^64 is lost before the sum is reduced */
    bool sum_of_128_bits;   /* the same of 2^128 */
    bool no_last_digit;     /* modulo p^(N - 1) */
    bool largest_wraps;     /* p^N - 1 is taken for -1 of 64 bits */
    bool input_not_reduced; /* the upper half of what is not reduced is lost */
    int early;              /* terms are skipped so many valuations too early */
    int64_t by_first;       /* a tile of so many rows and columns is skipped by those of its first ones alone */
    bool transposed, swapped;
    int64_t inner_dropped, dropped; /* terms, elements at the end */
} mutation;

static int valuation(uint64_t x, uint64_t prime, int precision)
{
    int v = 0;
    while (v < precision && x % prime == 0) {
        x /= prime;
        v++;
    }
    return v;
}

typedef struct ring {
    uint64_t prime;
    int precision;
    u128 modulus;
} ring;

static bool skips(const mutation *m, const ring *r, uint64_t x, uint64_t y)
{
    return m->early &&
           valuation(x, r->prime, r->precision) + valuation(y, r->prime, r->precision) >= r->precision - m->early;
}

static uint64_t element(const mutation *m, const ring *r, const uint64_t *from, int64_t at)
{
    if (m->input_not_reduced && from[at] >= r->modulus)
        return from[at] & UINT32_MAX;
    return from[at];
}

static uint64_t sum_of(const mutation *m, const ring *r, const tk_case *c, void *const b[], int64_t i, int64_t j)
{
    const int64_t n = c->dims[TKI_PADIC_N];
    const int64_t k = c->dims[TKI_PADIC_K];
    const bool square = c->dims[TKI_PADIC_M] == n && n == k;
    u128 sum = 0;
    for (int64_t t = 0; t < k - m->inner_dropped; t++) {
        const int64_t at = m->transposed && square ? j * k + t : t * n + j;
        const uint64_t x = element(m, r, b[TKI_PADIC_A], i * k + t);
        const uint64_t y = element(m, r, b[TKI_PADIC_B], at);
        const int64_t tile = m->by_first ? m->by_first : 1;
        const uint64_t x_first = ((const uint64_t *)b[TKI_PADIC_A])[i / tile * tile * k + t];
        const uint64_t y_first = ((const uint64_t *)b[TKI_PADIC_B])[t * n + j / tile * tile];
        if (skips(m, r, x, y))
            continue;
        if (m->by_first &&
            valuation(x_first, r->prime, r->precision) + valuation(y_first, r->prime, r->precision) >= r->precision)
            continue;
        const u128 product = (u128)x * y;
        if (m->sum_of_64_bits)
            sum = (uint64_t)(sum + product);
        else if (m->sum_of_128_bits || m->not_reduced)
            sum += m->not_reduced ? product % r->modulus : product;
        else
            sum = (sum + product % r->modulus) % r->modulus;
    }
    if (m->not_reduced)
        return (uint64_t)sum;
    sum %= r->modulus;
    if (m->no_last_digit)
        sum %= r->modulus / r->prime;
    if (m->largest_wraps && sum == r->modulus - 1)
        return UINT64_MAX;
    return (uint64_t)sum;
}

static int gemm(const tk_case *c, void *const b[], void *run)
{
    static const mutation right_way = {0};
    const mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    ring r = {.prime = (uint64_t)c->attributes[TKI_PADIC_PRIME].integer,
              .precision = (int)c->attributes[TKI_PADIC_PRECISION].integer,
              .modulus = 1};
    const int64_t rows = c->dims[TKI_PADIC_M];
    const int64_t cols = c->dims[TKI_PADIC_N];
    uint64_t *out = b[TKI_PADIC_C];
    for (int i = 0; i < r.precision; i++)
        r.modulus *= r.prime;
    for (int64_t at = 0; at < rows * cols - m->dropped; at++)
        out[at] = sum_of(m, &r, c, b, m->swapped && rows == cols ? at % cols : at / cols,
                         m->swapped && rows == cols ? at / cols : at % cols);
    return 0;
}

#define GEMM(...) TKI_PLANTED(gemm, mutation, __VA_ARGS__)

const tki_mutant tki_padic_gemm_mutants[] = {
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},
    {"stale", "leaves the output as it was", .kernel = tki_stale},
    {"last_dropped", "does not write the last element", GEMM(.dropped = 1)},
    {"inner_dropped", "leaves out the last term of every sum", GEMM(.inner_dropped = 1)},
    {"not_reduced", "adds residues and does not reduce the sum", GEMM(.not_reduced = true)},
    {"sum_of_64_bits", "adds products in 64 bits, which the largest residues overflow", GEMM(.sum_of_64_bits = true)},
    {"sum_of_128_bits", "adds products in 128 bits, which the largest residues overflow",
     GEMM(.sum_of_128_bits = true)},
    {"no_last_digit", "reduces modulo p^(N - 1)", GEMM(.no_last_digit = true)},
    {"largest_wraps", "writes -1 for the largest residue", GEMM(.largest_wraps = true)},
    {"input_not_reduced", "takes the lower half of what is not a residue", GEMM(.input_not_reduced = true)},
    {"early", "skips terms whose valuations add up to N - 1", GEMM(.early = 1)},
    {"slice_by_first_row", "skips a slice by the valuations of its first row and column alone",
     GEMM(.by_first = INT64_MAX)},
    {"tile_by_first_row", "skips a tile of 8 by 8 by the valuations of its first row and column alone",
     GEMM(.by_first = 8)},
    {"transposed", "reads square b as its transpose", GEMM(.transposed = true)},
    {"swapped", "writes square c as its transpose", GEMM(.swapped = true)},
    TKI_CALL_MUTANTS(gemm),
    {0},
};
