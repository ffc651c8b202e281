/* CHOOSES. Correct kernels for padic_gemm that compute it in other ways than ours, each with one line saying what is different. */
#include "ops/padic/contract.h"
#include "ops/variant_tools.h"

typedef unsigned __int128 u128;

typedef enum form { EACH_STEP, BACKWARDS, SIGNED_RESIDUES, BY_HALVES, SKIPPING } form;

typedef struct way {
    form form;
} way;

typedef struct ring {
    uint64_t prime;
    int precision;
    u128 modulus;
} ring;

/* From -p^N/2 to p^N/2. */
static __int128 centered(const ring *r, uint64_t x)
{
    const u128 y = x % r->modulus;
    return y > r->modulus / 2 ? (__int128)y - (__int128)r->modulus : (__int128)y;
}

/* The halves of y one after the other: no product of more than 96 bits. */
static u128 by_halves(const ring *r, uint64_t x, uint64_t y)
{
    const u128 shifted = ((u128)x << 32) % r->modulus;
    return ((u128)x * (y & UINT32_MAX) % r->modulus + shifted * (y >> 32) % r->modulus) % r->modulus;
}

static int valuation(const ring *r, uint64_t x)
{
    int v = 0;
    for (u128 rest = x % r->modulus; v < r->precision && rest % r->prime == 0; v++)
        rest /= r->prime;
    return v;
}

static u128 term(const ring *r, form f, uint64_t x, uint64_t y)
{
    switch (f) {
    case SIGNED_RESIDUES: {
        const __int128 rest = centered(r, x) * centered(r, y) % (__int128)r->modulus;
        return rest < 0 ? (u128)(rest + (__int128)r->modulus) : (u128)rest;
    }
    case BY_HALVES: return by_halves(r, x, y);
    case SKIPPING:
        if (valuation(r, x) + valuation(r, y) >= r->precision)
            return 0;
        break;
    case EACH_STEP:
    case BACKWARDS: break;
    }
    return (u128)x * y % r->modulus;
}

static int gemm(const tk_case *c, void *const b[], void *run)
{
    const way *w = tki_how(run);
    ring r = {.prime = (uint64_t)c->attributes[TKI_PADIC_PRIME].integer,
              .precision = (int)c->attributes[TKI_PADIC_PRECISION].integer,
              .modulus = 1};
    const int64_t n = c->dims[TKI_PADIC_N];
    const int64_t k = c->dims[TKI_PADIC_K];
    for (int i = 0; i < r.precision; i++)
        r.modulus *= r.prime;
    for (int64_t at = 0; at < c->dims[TKI_PADIC_M] * n; at++) {
        u128 sum = 0;
        for (int64_t s = 0; s < k; s++) {
            const int64_t t = w->form == BACKWARDS ? k - 1 - s : s;
            sum = (sum + term(&r, w->form, ((const uint64_t *)b[TKI_PADIC_A])[at / n * k + t],
                              ((const uint64_t *)b[TKI_PADIC_B])[t * n + at % n])) %
                  r.modulus;
        }
        ((uint64_t *)b[TKI_PADIC_C])[at] = (uint64_t)sum;
    }
    return 0;
}

#define GEMM(...) TKI_PLANTED(gemm, way, __VA_ARGS__)

const tki_variant tki_padic_gemm_variants[] = {
    {"each_step", "reduces after every product", GEMM(.form = EACH_STEP)},
    {"backwards", "from the last term to the first", GEMM(.form = BACKWARDS)},
    {"signed_residues", "residues around zero", GEMM(.form = SIGNED_RESIDUES)},
    {"by_halves", "multiplies by the halves of b one after the other", GEMM(.form = BY_HALVES)},
    {"skipping", "leaves out each term that vanishes", GEMM(.form = SKIPPING)},
    {0},
};
