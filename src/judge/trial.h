/* DECIDES. One trial: run a kernel on one set of inputs in guarded buffers, several times, and judge what it did. */
#pragma once

#include "core/context.h"
#include "core/fault.h"
#include "judge/judge.h"
#include "judge/trial_inputs.h"
#include "model/caller.h"
#include "model/lowering.h"

enum { TKI_STALE_BYTES = 4096, TKI_OUTPUT_HASH = 65 };

/* An instrumented build is watched, not judged. */
typedef enum tki_observing {
    TKI_JUDGED,
    TKI_OBSERVE_ALL,  /* all calls of a trial */
    TKI_OBSERVE_FIRST /* its first call alone */
} tki_observing;

/* What is being certified. */
typedef struct tki_subject tki_subject;
struct tki_subject {
    tk_ctx *ctx;
    const tk_contract *contract;
    const tki_oracle *oracle;
    void *tables;
    tki_caller *caller;
    const tki_lowering *lowering; /* NULL for a mutant or a user's function */
    tki_observing observing;      /* then there is no oracle, and results say only how calls ended */
    int suspicion;                /* further runs of each trial, for a kernel that may remember; 0: none */
    /* Names the outputs among tensors in contract order; all NaNs are the same. NULL: nobody asks for names */
    tk_status (*hash)(const tk_case *c, const void *const tensors[], char text[TKI_OUTPUT_HASH]);
    /* With suspicion, before one small trial in eight: a call that is not judged. NULL: none */
    tk_status (*visit)(tki_subject *subject, const tki_trial *trial);
    unsigned char stale[TK_MAX_PARAMS]
                       [TKI_STALE_BYTES]; /* of the outputs of an earlier trial, for those of later calls */
    size_t stale_bytes[TK_MAX_PARAMS];
};

/* What failed, or why the kernel could not be run, as data: decisions read it, and text is made of it last. */
typedef enum tki_finding_kind {
    TKI_FOUND_NOTHING,
    TKI_FOUND_WORDS,            /* the result's: what the call failed with */
    TKI_FOUND_FAULT,            /* the result's */
    TKI_FOUND_ELEMENT,          /* the judgement's failure */
    TKI_FOUND_WRITTEN_OUTSIDE,  /* the tensor, at byte `at` of its seen[0] */
    TKI_FOUND_INPUT_CHANGED,    /* the tensor */
    TKI_FOUND_UNWRITTEN,        /* element `at` */
    TKI_FOUND_OTHER_BITS,       /* element `at` was seen[0] on one run and seen[1] on another */
    TKI_FOUND_OTHER_IN_PLACE,   /* element `at` */
    TKI_FOUND_OTHER_ALONE,      /* the rows from `at` on, without those before them */
    TKI_FOUND_OTHER_AGAIN,      /* the same inputs after other calls */
    TKI_FOUND_BY_SCREEN,        /* the tensor as a whole */
    TKI_FOUND_INDEX_TAKEN,      /* element `at`, which is seen[0] */
    TKI_FOUND_INDEX_NOT_NAMED,  /* element `at`; the refusal is in the result's words */
    TKI_FOUND_INDEX_WRITTEN_FOR /* the tensor */
} tki_finding_kind;

enum { TKI_FINDINGS = TKI_FOUND_INDEX_WRITTEN_FOR + 1 };

typedef struct tki_finding {
    tki_finding_kind kind;
    int param; /* the tensor concerned */
    int64_t at;
    uint64_t seen[2];
    bool changed; /* in a call with one input element changed, this one: */
    bool swapped; /* it was swapped with others of its input */
    int changed_param;
    int64_t changed_at;
} tki_finding;

typedef struct tki_trial_result {
    tki_judgement judgement;
    int64_t structural[TK_MAX_CLAUSES]; /* checks of clauses about shape, writing and repetition */
    int failed_clause;                  /* -1: everything held */
    bool clause_missing;                /* something failed that no clause of the contract is about */
    tki_finding finding;
    tki_fault fault; /* behind the finding, where there is one */
    char words[512]; /* of the context, behind the finding, as they came from a driver or the kernel's process */
    bool could_not_run;
    bool timed_out;             /* then could_not_run is set as well */
    bool faulted;               /* it crashed or the like: failed_clause is set, and there is no output */
    bool only_changed;          /* it failed in the run with one element changed */
    bool worst_changed;         /* the judgement's worst element is of the call with an input changed */
    bool batch_checked;         /* a part of the batch was run alone */
    tk_determinism determinism; /* what this trial saw */
    char output_hash[TKI_OUTPUT_HASH];
    tki_left_out left_out; /* of the first run, as the kernel says */
    int screened_by;       /* vectors of the oracle's check of the whole output; 0: it was not made */
    double kernel_seconds; /* of the first run */
    double judge_seconds;  /* oracle and judge */
} tki_trial_result;

/* Runs and judges. A kernel that fails is a successful call. TK_INTERNAL: it failed in a way that the contract has no clause of, which
 * registering a contract rules out. */
TK_MUST_USE tk_status tki_trial_run(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                                    tki_trial_result *result);

/* Runs once, and judges that call alone. */
TK_MUST_USE tk_status tki_trial_glance(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                                       tki_trial_result *result);

/* The trial's inputs are its own from now on, its calls stay as they were. */
void tki_trial_give_inputs(tki_trial *trial);

/* For a trial that failed with one element changed: if these inputs fail by themselves, they become the trial's own, and *result is
 * what came of them. */
TK_MUST_USE tk_status tki_trial_adopt_change(tki_subject *subject, tki_trial *trial, tki_inputs *inputs,
                                             tki_trial_result *result);

/* Runs once and compares the outputs with the hash of an earlier run. */
TK_MUST_USE tk_status tki_trial_run_again(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                                          const char *output_hash, tki_trial_result *result);

/* One call with that many threads. places[p]: where array p lay in its page. Result as of an instrumented build. */
TK_MUST_USE tk_status tki_trial_observe(tki_subject *subject, const tki_trial *trial, const tki_inputs *inputs,
                                        int threads, int64_t places[TK_MAX_PARAMS], tki_trial_result *result);

/* Plants a bad index at `position` of the trial's index input (and another behind it): the kernel must refuse it with a message
 * that names the position, and write nothing. Lowerings only. */
TK_MUST_USE tk_status tki_trial_run_bad_index(tki_subject *subject, const tki_trial *trial, tki_inputs *inputs,
                                              int param, int64_t position, int64_t value, tki_trial_result *result);

/* The element that was refused first, if there is one: its clause has failed. */
void tki_trial_fail_element(tki_trial_result *result);

/* "other_bits": in certificates. */
const char *tki_finding_name(tki_finding_kind kind);

/* The finding in words, of a trial of that case, and what is wrong with a refused element: judge/reason.c. */
void tki_trial_reason(const tki_trial_result *result, const tk_case *c, char *text, size_t size);
void tki_element_describe(const tk_case *c, const tki_element *element, char *text, size_t size);

/* The size that counts the rows of the last output, of which a part is run alone. */
int tki_batch_dim(const tk_contract *contract);

/* The contract's first clause of that kind; -1 if it has none. */
int tki_clause_find(const tk_contract *contract, tk_clause_kind kind);
