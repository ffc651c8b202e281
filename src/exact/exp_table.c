/* DECIDES. The table of exp. */
#include "exact/exp_table.h"

#include <math.h>
#include <mpfr.h>

#include "exact/floats.h"
#include "exact/kept_table.h"
#include "exact/round.h"

enum {
    PRECISION = 96,
    DIFFERENCE_PRECISION = 320, /* that of two fp32 numbers spans at most 278 bits */
    /* exp(+-2^16) has exponents of +-94548. Beyond, a pattern's exponent is this plus its place times a gap. */
    WIDE_EXPONENT = 1 << 20,
    WIDE_GAP = 1 << 12,
    LOWEST_EXPONENT = -(1 << 29)
};

static const double WIDE = 0x1p16;

static tki_exp_entry entry_of(double x, uint32_t bits, mpfr_ptr t)
{
    if (isnan(x) || x == INFINITY)
        return (tki_exp_entry){.x = (float)x, .mantissa = NAN};
    if (x == -INFINITY)
        return (tki_exp_entry){.x = (float)x, .mantissa = 0, .exponent = LOWEST_EXPONENT};
    if (fabs(x) > WIDE) {
        int32_t exponent = WIDE_EXPONENT + (int32_t)(bits & 0x7fff) * WIDE_GAP;
        return (tki_exp_entry){.x = (float)x, .mantissa = 0.5, .exponent = x < 0 ? -exponent : exponent};
    }
    long exponent;
    mpfr_set_d(t, x, MPFR_RNDN);
    mpfr_exp(t, t, MPFR_RNDN);
    double mantissa = mpfr_get_d_2exp(&exponent, t, MPFR_RNDN);
    return (tki_exp_entry){.x = (float)x, .mantissa = mantissa, .exponent = (int32_t)exponent};
}

static void fill(tk_dtype dtype, void *table)
{
    tki_exp_entry *entries = table;
#pragma omp parallel
    {
        const tki_floats floats = tki_floats_begin();
        mpfr_t t;
        mpfr_init2(t, PRECISION);
#pragma omp for schedule(dynamic, 256)
        for (uint32_t bits = 0; bits < TKI_PATTERNS; bits++)
            entries[bits] = entry_of(tki_decode(dtype, bits), bits, t);
        mpfr_clear(t);
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
        tki_floats_end(&floats);
    }
}

tk_status tki_exp_table_open(tk_dtype dtype, void **table)
{
    static tki_kept_table kept = {.entry_bytes = sizeof(tki_exp_entry), .fill = fill};
    return tki_kept_table_open(&kept, dtype, table);
}

void tki_exp_difference_enclose(tki_interval *result, double x, double max)
{
    mpfr_t difference; /* exact; exp(-inf) is 0 */
    mpfr_init2(difference, DIFFERENCE_PRECISION);
    mpfr_set_d(difference, x, MPFR_RNDN);
    mpfr_sub_d(difference, difference, max, MPFR_RNDN);
    mpfr_exp(result->lo, difference, MPFR_RNDD);
    mpfr_exp(result->hi, difference, MPFR_RNDU);
    mpfr_clear(difference);
}
