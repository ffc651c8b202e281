/* RECORDS. Why a verdict is REFUTED or UNKNOWN, as data: the reason is made of the member `cause` alone, where a certificate is written and
 * wherever one is read. */
#pragma once

#include <jansson.h>

#include "judge/trial.h"

typedef enum tki_cause_kind {
    TKI_CAUSE_NONE,
    TKI_CAUSE_TRIAL,     /* the finding of one, which refutes or could not be run */
    TKI_CAUSE_LOADING,   /* the fault that ended the kernel's process before any call */
    TKI_CAUSE_NO_KERNEL, /* the words say why there is none to run */
    TKI_CAUSE_SANITIZER, /* what compute-sanitizer found, in its words */
    TKI_CAUSE_MUTANT,    /* one that was not rejected */
    TKI_CAUSE_TIME,      /* it was over after so many of so many trials */
    TKI_CAUSE_EMPTY,     /* no output has an element */
    TKI_CAUSE_NO_BOUND,  /* for some elements */
    TKI_CAUSE_DEPENDS,   /* the source asks where, when or how it is compiled: built.depends_on */
    TKI_CAUSES
} tki_cause_kind;

typedef struct tki_cause {
    tki_cause_kind kind;
    tki_finding finding;
    char words[512];     /* from outside */
    const char *fits;    /* numerics by which the trial that failed is right; NULL: none are known */
    const char *name;    /* of the mutant, or of the sanitizer's tool */
    const char *meaning; /* of what the sanitizer found */
    int64_t tried, of_trials;
} tki_cause;

struct tki_outcome;

/* The member `cause`; NULL: there is none. A new reference. */
json_t *tki_cause_json(const struct tki_outcome *o);

/* What is there to be read of an element that was refused, beside its other members. */
void tki_cause_set_refused(json_t *element, const tki_element *e);

/* What a kernel did beside computing values: `result.fault`. */
json_t *tki_fault_json(const tki_fault *fault, const tk_contract *contract);

/* The reason that follows from the other members; free() it. NULL: `cause` or what it speaks of is missing or not what it has to be. */
char *tki_reason(const json_t *predicate, const tk_contract *contract);
