/* RECORDS. What can be certified: a lowering of ours, a planted kernel, a function of the caller, a kernel file. Each
 * kind is a row of functions. All are called in one way, through the executor. */
#pragma once

#include <stdio.h>

#include "certify/outcome.h"
#include "certify/provenance.h"
#include "runtime/executor.h"

struct tki_subject_kind {
    const char *name; /* `run.kind` of a certificate */
    bool planted;     /* by us, to try the judge with */
    bool brought;     /* by somebody who may follow other numerics than those asked for */
    bool stranger;    /* it runs shut in, and may remember what it was asked before */

    /* Names the subject, and finds it. */
    tk_status (*choose)(tk_ctx *ctx, tki_outcome *o);

    /* Makes it ready to be called. A kernel that cannot be had, or fails on the way, is a verdict. */
    tk_status (*open)(tki_subject *subject, tki_outcome *o);

    /* Adds its members to `run`. */
    void (*describe)(const tki_outcome *o, json_t *run);

    /* Prints its options of the command that runs it again. */
    void (*reproduce)(const json_t *predicate, FILE *out);

    /* What it was built from. */
    tk_status (*trace)(tk_ctx *ctx, const tki_outcome *o, tki_provenance *provenance);
};

/* The functions of a kind, in the file that has it. */
#define TKI_SUBJECT_FUNCTIONS \
    .choose = choose, .open = open_subject, .describe = describe, .reproduce = reproduce, .trace = trace

extern const tki_subject_kind tki_subject_lowering, tki_subject_mutant, tki_subject_variant, tki_subject_function,
    tki_subject_kernel_file, tki_subject_given;

/* The kind of that name; NULL if there is none. */
const tki_subject_kind *tki_subject_kind_named(const char *name);

/* The kind that the options ask for. */
const tki_subject_kind *tki_subject_kind_of(const tk_certify_options *options);

/* The backend asked for, or the one that the lowering's id begins with; NULL if there is none of that name. */
const tki_backend *tki_subject_backend(const tk_certify_options *options);

/* Another process for a stranger's kernel, in place of the present one. Verdicts as of `open`. */
TK_MUST_USE tk_status tki_subject_renew(tki_subject *subject, tki_outcome *o, bool guarded);
