/* DECIDES. The tables of exp(-i) and exp(-j / 256). */
#include "exact/exp_enclosure.h"

#include "exact/kept_table.h"

/* To nearest from 96 bits: within 2^-53 (1 + 2^-40) of itself, as a double rounded once is within 2^-53. */
enum { PRECISION = 96 };

static void fill(void *table)
{
    tki_exp_pieces *pieces = table;
    mpfr_t t;
    mpfr_init2(t, PRECISION);
    for (int i = 0; i < TKI_EXP_UNITS; i++) {
        mpfr_set_si(t, -i, MPFR_RNDN);
        mpfr_exp(t, t, MPFR_RNDN);
        pieces->unit[i] = mpfr_get_d(t, MPFR_RNDN);
    }
    for (int j = 0; j < TKI_EXP_STEPS; j++) {
        mpfr_set_d(t, -j / (double)TKI_EXP_STEPS, MPFR_RNDN);
        mpfr_exp(t, t, MPFR_RNDN);
        pieces->step[j] = mpfr_get_d(t, MPFR_RNDN);
    }
    mpfr_clear(t);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

tk_status tki_exp_pieces_open(const tki_exp_pieces **pieces)
{
    static tki_kept_single kept = {.bytes = sizeof(tki_exp_pieces), .fill = fill};
    void *table;
    tk_status status = tki_kept_single_open(&kept, &table);
    *pieces = table;
    return status;
}
