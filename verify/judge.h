/* TRUSTED. The judge: every output element against the admissible interval of its exact value. */
#ifndef TKI_VERIFY_JUDGE_H
#define TKI_VERIFY_JUDGE_H

#include "exact/oracle.h"

enum { TKI_ULP_BINS = 10 };

/* Upper ends of the histogram's bins in ulps; the last bin has none. */
extern const double tki_ulp_bin_ends[TKI_ULP_BINS - 1];

typedef struct tki_element {
    bool present;
    int output;
    int clause;
    int64_t index; /* flat, into the output */
    uint32_t got;
    uint32_t lo_bits, hi_bits; /* the admissible interval in the output's type; only if `interval` */
    bool interval;
    uint8_t admits;
    double exact; /* near S; only if `interval` */
    double ulps;
    double bound;
    double bound_used;
} tki_element;

typedef struct tki_judgement {
    int64_t elements;
    int64_t judged[TK_MAX_CLAUSES];
    int64_t failed[TK_MAX_CLAUSES];
    int64_t refined;   /* elements for which double arithmetic did not decide */
    int64_t undecided; /* accepted because even the oracle's limit did not decide */
    int64_t undefined; /* elements for which the contract gives no bound */
    int64_t histogram[TKI_ULP_BINS];
    double bound_used;
    double absolute_error;
    double row_sum_error; /* where rows should sum to one; else 0 */
    tki_element worst;    /* by ulps among accepted and refused alike */
    tki_element failure;  /* the first refused one */
} tki_judgement;

/* Judges one output and adds what it finds to *total. `data` is the output as the kernel left it. */
TK_MUST_USE tk_status tki_judge(const tki_oracle *oracle, const tki_oracle_job *job, const void *data, int threads,
                                tki_judgement *total);

/* Adds the counts and the largest errors of a part; `worst` and `failure` stay as they are. */
void tki_judgement_add(tki_judgement *sum, const tki_judgement *part);

/* How an output is seen as a matrix. */
void tki_output_matrix(const tk_case *c, int output, int64_t *rows, int64_t *cols);

#endif
