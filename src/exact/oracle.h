/* DECIDES. What an oracle is: it encloses the exact results S of a box of output elements, gives the bound B of
 * each, and says what is admitted where S does not exist. The judge (judge/judge.c) does the rest. */
#pragma once

#include <mpfr.h>

#include "exact/admit.h"
#include "tokitai.h"

typedef struct tki_enclosure {
    double lo, hi; /* lo <= S <= hi; read only with TKI_ADMIT_INTERVAL. Finite. */
    double bound;  /* B, rounded up */
    uint64_t
        bits; /* read only with TKI_ADMIT_BITS or TKI_ADMIT_RAW_BITS; of TK_BY_INTEGER the integer, sign-extended */
    uint16_t admits; /* TKI_ADMIT_... */
    uint8_t clause;  /* index into contract->clauses of the clause that decides this element */
} tki_enclosure;

/* A box of an output seen as a matrix; a tensor of rank 1 is one row, except that the output of a row op with one
 * element per row (a loss, say) is one column. */
typedef struct tki_box {
    int64_t row_begin, row_end, col_begin, col_end;
} tki_box;

typedef struct tki_oracle_job {
    const tk_case *c;
    const void *const *buffers; /* in contract order; outputs are NULL */
    /* All tensors as the kernel left them, for an oracle of outputs where it may choose between right ones; NULL: none. */
    const void *const *written;
    int output;           /* which parameter is enclosed */
    bool promised;        /* use the smaller bound, or the bits, that our own lowerings promise */
    bool sampled;         /* of a large output some boxes are judged, at most TKI_MOST_SAMPLED of judge/judge.h */
    double deadline;      /* on tki_now()'s clock; 0: none. The judge alone looks at it */
    const void *tables;   /* given by open() */
    const void *prepared; /* made by prepare() */
} tki_oracle_job;

/* Every function is safe to call from several threads at once with the same job; only TK_OK, TK_NO_MEMORY and
 * TK_INTERNAL are returned. */
typedef struct tki_oracle {
    /* Tables that depend on the dtype alone, kept until the process ends (exact/kept_table.h). May be NULL. */
    tk_status (*open)(tk_dtype dtype, void **tables);
    /* What depends on one case's inputs, made once per case. May be NULL. */
    tk_status (*prepare)(const tki_oracle_job *job, void **prepared);
    void (*release)(void *prepared);
    /* The box size at which enclose() works best; the judge may pass smaller ones at the edges or single elements. */
    void (*box_size)(const tk_case *c, int output, int64_t *rows, int64_t *cols);
    /* Row-major over the box. */
    tk_status (*enclose)(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out);
    /* S of one element, enclosed with about `precision` bits relative to its own size, or exactly (lo == hi). lo and
     * hi come initialised and may be given another precision. Called only for elements with TKI_ADMIT_INTERVAL. */
    tk_status (*refine)(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo, mpfr_ptr hi);
    /* Of a whole output, beside enclose(), where a case is worth it: a check by drawn vectors that shares nothing with it.
     * *vectors: how many were drawn, so many that a wrong output passes with a probability below 2^-64; 0: the case is
     * not worth it. May be NULL. */
    tk_status (*screen)(const tki_oracle_job *job, const void *output, uint64_t seed, int *vectors, bool *passes);
    /* Of an element that is TKI_UNDEFINED: the first value of the definition that nothing is known of, by its number; -1. May be NULL. */
    int (*origin)(const tki_oracle_job *job, int64_t index);
} tki_oracle;
