/* CHOOSES. Input families: ways of drawing inputs that find mistakes, all from a printed seed. */
#pragma once

#include "tokitai_verify.h"

/* The number goes into the seeds, and certificates name seeds: a new family goes to the end. */
typedef enum tki_family {
    TKI_FAMILY_NORMAL,
    TKI_FAMILY_FINITE_BITS,
    TKI_FAMILY_BITS,
    TKI_FAMILY_SPECIAL,
    TKI_FAMILY_SUBNORMAL,
    TKI_FAMILY_HUGE_VALUES,
    TKI_FAMILY_CANCEL,
    TKI_FAMILY_SWAMP,
    TKI_FAMILY_FEW,
    TKI_FAMILY_MIDPOINT,
    TKI_FAMILY_MIXED_EXPONENTS,
    TKI_FAMILY_EQUAL,
    TKI_FAMILY_ONE_HOT,
    TKI_FAMILY_SORTED,
    TKI_FAMILY_ALTERNATING,
    TKI_FAMILY_CONSTANT_ROWS,
    TKI_FAMILY_MINUS_INF,
    TKI_FAMILY_CONFIDENT,
    TKI_FAMILY_INDEX_ZIPF,
    TKI_FAMILY_INDEX_EQUAL,
    TKI_FAMILY_INDEX_SORTED,
    TKI_FAMILY_INDEX_EACH_ONCE,
    TKI_FAMILY_INDEX_ENDS,
    TKI_FAMILY_ZERO_INF,
    TKI_FAMILY_EXACT,
    TKI_FAMILY_PLATEAU,
    TKI_FAMILY_OFFSET,
    TKI_FAMILY_LOG_UNIFORM,
    TKI_FAMILY_THRESHOLDS,
    TKI_FAMILY_NEAR_TIE,
    TKI_FAMILY_ONE_SPECIAL,
    TKI_FAMILY_SMALL_AMONG,
    TKI_FAMILY_PEAKS,
    TKI_FAMILY_EACH_PATTERN,
    TKI_FAMILY_INDEX_RUNS,
    TKI_FAMILY_INDEX_TWO,
    TKI_FAMILY_INDEX_PERMUTED,
    TKI_FAMILY_INDEX_LAST,
    TKI_FAMILY_INDEX_COUNTS,
    TKI_FAMILY_INDEX_HIGH,
    TKI_FAMILY_ZEROS,
    TKI_FAMILY_TRUNCATION,
    TKI_FAMILY_ONE_SIGN,
    TKI_FAMILY_FAR_APART,
    TKI_FAMILY_ZERO_NAN,
    TKI_FAMILY_SMALL_TIES,
    TKI_FAMILY_SPECIAL_PARTNERS,
    TKI_FAMILY_CROWD,
    TKI_FAMILY_TAIL,
    TKI_FAMILY_ORDER,
    TKI_FAMILY_SCALED_LINES,
    TKI_FAMILY_NEAREST_TIES,
    TKI_FAMILY_ZERO_INPUT,
    TKI_FAMILY_COUNT
} tki_family;

/* Fills every input of the case. `data` is in contract order; outputs are skipped. The same case, family and seed give
 * the same bits everywhere. */
void tki_family_fill(int family, const tk_case *c, uint64_t seed, void *const data[]);

int tki_family_find(const char *name); /* -1 if there is no such family */

/* A family in which an element that is lost, doubled or in the wrong place shows at any shape; `turn` chooses among the op's. */
int tki_family_main(const tk_contract *contract, int turn);

/* The i-th of the families in which a path that only some sizes take shows what it leaves out or adds up in another order; -1 behind the
 * last. */
int tki_family_telling(const tk_contract *contract, int i);
