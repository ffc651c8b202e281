/* TRUSTED. The exact value of padic_gemm, by GMP. A row of b is one long number with three limbs for each element, so that
 * a multiple of it added to a row of sums carries into no neighbour: sums of fewer than 2^63 products of 64-bit numbers
 * are below 2^192. */
#include <gmp.h>
#include <stdlib.h>
#include <string.h>

#include "exact/oracle.h"
#include "ops/padic/contract.h"
#include "ops/padic/trials.h"

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

const tki_oracle tki_padic_gemm_oracle = {
    .box_size = box_size, .enclose = enclose, .attributes = &tki_padic_gemm_trials};
