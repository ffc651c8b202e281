/* RECORDS. All that one certification found, before it is written down. campaign.c fills it, write_certificate.c writes it. */
#pragma once

#include <jansson.h>

#include "certify/cause.h"
#include "certify/given_outputs.h"
#include "certify/sanitize.h"
#include "judge/trial.h"
#include "trials/explore.h"
#include "trials/mutants.h"

typedef struct tki_trial_record {
    tki_trial trial;
    int64_t repeats; /* trials folded into this record: the chunks of an exhaustive domain */
    int64_t elements;
    char output_hash[TKI_HASH_HEX];
} tki_trial_record;

typedef struct tki_subject_kind tki_subject_kind; /* certify/subject.h */

typedef struct tki_outcome {
    const tk_contract *contract;
    tk_dtype dtype, result_dtype, index_dtype;
    const tk_certify_options *options;
    tk_level level;                         /* that was run */
    tk_value attributes[TK_MAX_ATTRIBUTES]; /* of every trial, but for those that kernels see */
    const tki_subject_kind *kind;
    const tki_backend *backend; /* where it runs */
    char subject
        [160]; /* lowering id, "mutant.OP.DTYPE.NAME", "variant. ...", the function's name, "kernel.BACKEND. ..." */
    const tki_lowering *lowering;
    tki_mutant_run planted; /* what a mutant or variant is handed */
    char refusals[1024];    /* of the lowerings that were passed over */
    const tki_given *given; /* outputs that were computed elsewhere; NULL: a kernel is run */

    tk_verdict verdict;
    tki_cause cause;
    tki_fault fault;              /* behind the cause, where there is one */
    json_t *failing_case;         /* what shows it again; NULL: only the whole */
    int failed_clause;            /* of the smallest failing case; -1 */
    bool refuted[TK_MAX_CLAUSES]; /* shrinking may end at another clause than the one that failed first */
    tki_judgement judgement;
    tki_judgement failing; /* of the trials that failed alone */
    int64_t failed_trials;
    int64_t tried; /* trials of the list that were run */
    bool complete; /* all of them were, but for those left out */
    int faults;    /* crashes and the like among them */
    int64_t structural[TK_MAX_CLAUSES];
    bool proved[TK_MAX_CLAUSES]; /* every input of the finite domain was judged by this clause or a fellow of it */
    tk_determinism determinism;
    bool batch_checked;
    tki_trial worst_trial;     /* the trial with the worst element */
    tki_trial unbounded_trial; /* the first with an element that has no bound */
    uint64_t worst_inputs[TK_MAX_PARAMS];
    bool worst_inputs_known; /* elementwise ops only: the bits of every input that made it */
    tki_trial failed_trial;  /* shrunk */
    tki_left_out skipped;    /* by the first calls of all trials */
    int64_t screened;        /* trials whose outputs the oracle also checked as a whole */
    int screened_by_least, screened_by_most;
    double kernel_seconds, judge_seconds, seconds;
    double total_seconds; /* the most that all of it may take; 0: no limit */
    bool out_of_time;     /* they were over before it was done */

    tki_trial_record *trials;
    int64_t trial_count;
    tki_trial_record *domain;     /* the one of all patterns of a finite domain; NULL if that was not tried */
    int64_t held;                 /* trials of the list that held, or were left out, before one did not */
    int left_out;                 /* trials that need more memory than there is */
    double left_out_gib;          /* what the smallest of them needs */
    const uint64_t *mutants_seed; /* asked for; NULL: their own */
    tki_mutants mutants;
    tki_confinement confinement; /* of a kernel file's worker */
    tki_process_state loading;   /* of a kernel file's library */
    tki_exploration exploration; /* of a kernel file */
    int64_t glances;             /* of a kernel file: calls with its constants, judged beside the trials */
    int64_t came_late;           /* of a kernel file: trials run again late in the process of all others */
    int64_t came_again;          /* of a kernel file: trials run again after all others */
    tki_sanitized sanitized;
} tki_outcome;

/* A case of its op and types. */
static inline tk_case tki_outcome_case(const tki_outcome *o)
{
    tk_case c = tk_case_init(o->contract, o->dtype);
    c.result_dtype = o->result_dtype;
    c.index_dtype = o->index_dtype;
    return c;
}

/* "f16", "f16-f32" */
static inline void tki_outcome_types(const tki_outcome *o, char text[TKI_TYPES_TEXT])
{
    tk_types_name((tk_types){o->dtype, o->result_dtype}, text, TKI_TYPES_TEXT);
}

/* Adds what a trial came to: the one place where checks are counted and times summed. */
void tki_outcome_add(tki_outcome *o, const tki_trial *trial, const tki_inputs *inputs,
                     const tki_trial_result *result);

/* A failed trial is also one of those that say how wrong the kernel is. */
void tki_outcome_count_failed(tki_outcome *o, const tki_trial_result *result);

/* SHA-256 of all outputs among a case's tensors, which are in contract order; all NaNs are the same. */
TK_MUST_USE tk_status tki_outputs_hash(const tk_case *c, const void *const tensors[], char hash_text[TKI_HASH_HEX]);

/* Lists the trial, of which there is an output. Chunks of an exhaustive domain become one record whose hash runs over
 * theirs. */
void tki_outcome_record(tki_outcome *o, const tki_trial *trial, const tki_trial_result *result);

/* The verdict: the trial failed, or could not be run. */
void tki_outcome_refute(tki_outcome *o, const tki_trial *trial, const tki_trial_result *result);
void tki_outcome_leave_open(tki_outcome *o, const tki_trial_result *result);

/* The verdict when all that was to be tried was, out of so many trials. An exhaustive run proves the clauses about values;
 * the others stay HELD. */
void tki_outcome_conclude(tki_outcome *o, int64_t trials);

/* Asked where there is more to be done. */
bool tki_outcome_is_out_of_time(tki_outcome *o, const tk_ctx *ctx);

/* Tells the caller how far it is. */
void tki_outcome_report(const tki_outcome *o, double done, const char *what);

/* A number, or one of the strings that stand for those that JSON does not have; and a histogram over tki_ulp_bin_ends.
 * New references. */
json_t *tki_real_json(double value);
json_t *tki_histogram_json(const int64_t histogram[TKI_ULP_BINS]);
/* The number that the bits of an element stand for. */
json_t *tki_element_json(tk_dtype dtype, uint64_t pattern);

/* Text that may hold any bytes; JSON is UTF-8. A new reference. */
json_t *tki_text_json(const char *text);

/* What the trial runs on. A new reference; NULL when memory ran out. */
json_t *tki_trial_json(const tki_trial *trial);

/* Writes the outcome down. */
TK_MUST_USE tk_status tki_certificate_make(tk_ctx *ctx, const tki_outcome *outcome, tk_certificate **certificate);
