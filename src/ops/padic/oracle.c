/* DECIDES. The exact value of padic_gemm, by GMP. A row of b is one long number with three limbs for each element, so that
 * a multiple of it added to a row of sums carries into no neighbour: sums of fewer than 2^63 products of 64-bit numbers
 * are below 2^192. */
#include <gmp.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "exact/oracle.h"
#include "ops/padic/contract.h"

enum { LIMBS = 3, BOX_ROWS = 8, BOX_COLS = 256 };

_Static_assert(GMP_NUMB_BITS == 64, "an element is one limb");

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    (void)c;
    (void)output;
    *rows = BOX_ROWS;
    *cols = BOX_COLS;
}

/* p^N; of 0 there is none. */
static void get_modulus(const tk_case *c, mpz_t modulus)
{
    mpz_ui_pow_ui(modulus, (unsigned long)c->attributes[TKI_PADIC_PRIME].integer,
                  (unsigned long)c->attributes[TKI_PADIC_PRECISION].integer);
}

/* The residue of a sum of three limbs. */
static uint64_t residue(const mp_limb_t *limbs, const mpz_t modulus, mpz_t rest)
{
    mpz_t sum;
    mpz_mod(rest, mpz_roinit_n(sum, limbs, LIMBS), modulus);
    return mpz_get_ui(rest); /* below 2^64 */
}

static tk_status enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    const int64_t n = job->c->dims[TKI_PADIC_N];
    const int64_t k = job->c->dims[TKI_PADIC_K];
    const uint64_t *a = job->buffers[TKI_PADIC_A];
    const uint64_t *b = job->buffers[TKI_PADIC_B];
    const int64_t rows = box->row_end - box->row_begin;
    const int64_t cols = box->col_end - box->col_begin;
    mp_limb_t *sums = calloc((size_t)((rows + 1) * cols * LIMBS + 1), sizeof *sums);
    if (!sums)
        return TK_NO_MEMORY;
    mp_limb_t *spread = sums + rows * cols * LIMBS;
    for (int64_t t = 0; t < k && cols > 0; t++) {
        for (int64_t j = 0; j < cols; j++)
            spread[j * LIMBS] = b[t * n + box->col_begin + j];
        for (int64_t i = 0; i < rows; i++)
            (void)mpn_addmul_1(sums + i * cols * LIMBS, spread, cols * LIMBS, a[(box->row_begin + i) * k + t]);
    }
    mpz_t modulus, rest;
    mpz_inits(modulus, rest, NULL);
    get_modulus(job->c, modulus);
    for (int64_t i = 0; i < rows * cols; i++)
        out[i] = (tki_enclosure){
            .bits = residue(sums + i * LIMBS, modulus, rest), .admits = TKI_ADMIT_RAW_BITS, .clause = TKI_PADIC_ERR};
    mpz_clears(modulus, rest, NULL);
    free(sums);
    return TK_OK;
}

/* -- Freivalds' check: a (b x) = c x for drawn vectors x ------------------------------------------------------------- */

/* How many vectors. If c is wrong, one of them passes with a probability of at most 1/p, whatever N is: some entry of
 * c - a b is p^v times a unit, v < N, and decides its coordinate of x modulo p^(N - v) when the others are given. */
static int vectors_of(const tk_case *c)
{
    int vectors = 0;
    for (unsigned __int128 odds = 1; odds <= (unsigned __int128)1 << 64; vectors++)
        odds *= (uint64_t)c->attributes[TKI_PADIC_PRIME].integer;
    return vectors;
}

/* to = matrix x, residues */
static void apply(const uint64_t *matrix, int64_t rows, int64_t cols, const mp_limb_t *x, const mpz_t modulus,
                  mpz_t rest, mp_limb_t *to)
{
    for (int64_t i = 0; i < rows; i++) {
        mp_limb_t sum[LIMBS] = {0};
        for (int64_t j = 0; j < cols; j++) {
            const unsigned __int128 product = (unsigned __int128)matrix[i * cols + j] * x[j];
            const mp_limb_t term[LIMBS] = {(mp_limb_t)product, (mp_limb_t)(product >> 64), 0};
            (void)mpn_add_n(sum, sum, term, LIMBS);
        }
        to[i] = residue(sum, modulus, rest);
    }
}

static tk_status screen(const tki_oracle_job *job, const void *output, uint64_t seed, int *vectors, bool *passes)
{
    enum { WORTH_IT = 1 << 24 }; /* products of elements */
    const int64_t m = job->c->dims[TKI_PADIC_M];
    const int64_t n = job->c->dims[TKI_PADIC_N];
    const int64_t k = job->c->dims[TKI_PADIC_K];
    *vectors = 0;
    *passes = true;
    if ((double)m * (double)n * (double)k < WORTH_IT)
        return TK_OK;
    mp_limb_t *x = calloc((size_t)(n + k + 2 * m), sizeof *x);
    if (!x)
        return TK_NO_MEMORY;
    mp_limb_t *bx = x + n, *abx = bx + k, *cx = abx + m;
    mpz_t modulus, rest;
    mpz_inits(modulus, rest, NULL);
    get_modulus(job->c, modulus);
    const uint64_t bound = mpz_get_ui(modulus); /* 0: 2^64 */
    *vectors = vectors_of(job->c);
    for (int v = 0; v < *vectors && *passes; v++) {
        tki_random random = tki_random_stream(seed, (uint64_t)v);
        for (int64_t j = 0; j < n; j++)
            x[j] = bound ? tki_random_below(&random, bound) : tki_random_u64(&random);
        apply(job->buffers[TKI_PADIC_B], k, n, x, modulus, rest, bx);
        apply(job->buffers[TKI_PADIC_A], m, k, bx, modulus, rest, abx);
        apply(output, m, n, x, modulus, rest, cx);
        *passes = memcmp(abx, cx, (size_t)m * sizeof *cx) == 0;
    }
    mpz_clears(modulus, rest, NULL);
    free(x);
    return TK_OK;
}

const tki_oracle tki_padic_gemm_oracle = {.box_size = box_size, .enclose = enclose, .screen = screen};
