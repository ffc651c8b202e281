/* DECIDES. The judge: every output element against the admissible interval of its exact value. */
#pragma once

#include "exact/oracle.h"

enum { TKI_ULP_BINS = 10 };

/* Upper ends of the histogram's bins in ulps; the last bin has none. */
extern const double tki_ulp_bin_ends[TKI_ULP_BINS - 1];

typedef struct tki_element {
    bool present;
    int output;
    int clause;
    int64_t index;             /* flat, into the output */
    uint64_t got;              /* of integers: sign-extended */
    uint32_t lo_bits, hi_bits; /* the admissible interval in the output's type; only if `interval` */
    bool interval;
    uint16_t admits;
    uint64_t expected; /* only with TKI_ADMIT_BITS or TKI_ADMIT_RAW_BITS */
    double exact;      /* near S; only if `interval` */
    double ulps;       /* from RN(S) */
    double bound;
    double bound_used;
    double outside; /* refused ones: ulps from the nearest admissible value; infinite if there is no such distance */
} tki_element;

/* Where a distance in ulps says little: what is near zero is admitted by the bound, which is many ulps there; at overflow one of output and
 * RN(S) is infinite and the other is not. */
typedef enum tki_place { TKI_ORDINARY, TKI_NEAR_ZERO, TKI_AT_OVERFLOW } tki_place;
tki_place tki_place_of(const tki_element *element);

/* An element for which the contract gives no bound. */
typedef struct tki_unbounded {
    bool present;
    int output;
    int64_t index; /* flat, into the output */
    int node;      /* of a definition: the value that nothing is known of, by its number; -1: none is named */
} tki_unbounded;

/* How far off the refused elements of a clause are. */
typedef struct tki_refused {
    int64_t histogram[TKI_ULP_BINS]; /* by `outside` */
    int64_t gross;                   /* not even the first four bits are right */
    int64_t nan;                     /* NaN, where it is not admitted */
    int64_t special;                 /* another value where only NaN or an infinity is admitted */
    double worst;                    /* the largest `outside` */
} tki_refused;

/* Binades: normal numbers v with 2^exponent <= |v| < 2^(exponent + 1). */
enum {
    TKI_BINADE_LEAST = -126, /* of fp32, the widest format */
    TKI_BINADE_MOST = 127,
    TKI_BINADES = TKI_BINADE_MOST - TKI_BINADE_LEAST + 1,
    /* tki_judgement.magnitudes: what is no finite number, zero and subnormal numbers, the binades of each sign. */
    TKI_MAGNITUDE_OTHER = 0,
    TKI_MAGNITUDE_SUBNORMAL,
    TKI_MAGNITUDE_POSITIVE,
    TKI_MAGNITUDE_NEGATIVE = TKI_MAGNITUDE_POSITIVE + TKI_BINADES,
    TKI_MAGNITUDES = TKI_MAGNITUDE_NEGATIVE + TKI_BINADES
};

typedef struct tki_magnitude {
    int64_t elements;
    double ulps;       /* the largest of them, accepted and refused alike */
    double bound_used; /* the same */
} tki_magnitude;

/* The input by whose magnitude the elements of an elementwise op are counted: the last one of values, the argument where
 * there is a gradient beside it. -1: they are counted by |RN(S)|. */
int tki_counted_by_input(const tk_case *c);

typedef struct tki_judgement {
    int64_t elements;
    int64_t judged[TK_MAX_CLAUSES];
    int64_t failed[TK_MAX_CLAUSES];
    tki_refused refused[TK_MAX_CLAUSES];
    int64_t refined;   /* elements for which double arithmetic did not decide */
    int64_t undecided; /* accepted because even the oracle's limit did not decide */
    int64_t undefined; /* elements for which the contract gives no bound */
    int64_t histogram[TKI_ULP_BINS];
    tki_magnitude magnitudes[TKI_MAGNITUDES]; /* all elements of the histogram */
    double accepted_ulps; /* largest distance from RN(S) of an accepted element that is TKI_ORDINARY */
    int64_t near_zero;    /* accepted ones that are not RN(S), by their place */
    int64_t at_overflow;
    double bound_used;
    double absolute_error;
    double row_sum_error;    /* where rows should sum to one; else 0 */
    tki_element worst;       /* by ulps among accepted and refused alike */
    tki_element failure;     /* the first refused one */
    tki_unbounded unbounded; /* the first of those that are undefined */
} tki_judgement;

/* Judges one output and adds what it finds to *total. `data` is the output as the kernel left it. TK_TIMEOUT: the job's deadline was over
 * before all of it was judged, and nothing is added. */
TK_MUST_USE tk_status tki_judge(const tki_oracle *oracle, const tki_oracle_job *job, const void *data, int threads,
                                tki_judgement *total);

/* Adds the counts and the largest errors of a part; `worst`, `failure` and `unbounded` stay as they are. */
void tki_judgement_add(tki_judgement *sum, const tki_judgement *part);
/* Counts one. */
static inline void tki_note_unbounded(tki_judgement *tally, int output, int64_t index)
{
    tally->undefined++;
    if (!tally->unbounded.present || index < tally->unbounded.index)
        tally->unbounded = (tki_unbounded){true, output, index, -1};
}

void tki_refused_add(tki_refused *sum, const tki_refused *part);

/* The most boxes of a large output that are judged, where a sample is: 64 parts, both ends, powers of two, and the corners. */
enum { TKI_MOST_SAMPLED = 64 + 2 + 50 + 256 };

/* How an output is seen as a matrix. */
void tki_output_matrix(const tk_case *c, int output, int64_t *rows, int64_t *cols);

/* For oracles whose outputs are lists of elements: boxes of so many, and a box by stretches of elements that lie one behind the other. */
void tki_box_of_elements(const tk_case *c, int output, int64_t most, int64_t *rows, int64_t *cols);
typedef tk_status tki_enclose_stretch(const tki_oracle_job *job, int64_t first, int64_t count, tki_enclosure *out);
TK_MUST_USE tk_status tki_enclose_by_stretches(const tki_oracle_job *job, const tki_box *box,
                                               tki_enclose_stretch *stretch, tki_enclosure *out);
