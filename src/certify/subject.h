/* RECORDS. What can be certified: a lowering of ours, a planted kernel, a function of the caller, a kernel file, plain loops. Each
 * kind is a row of functions. All are called in one way, through the runner. */
#pragma once

#include <stdio.h>

#include "certify/outcome.h"
#include "certify/provenance.h"
#include "runtime/kernel_runner.h"

struct tki_subject_kind {
    const char *name;    /* `run.kind` of a certificate */
    bool planted;        /* by us, to try the judge with */
    bool is_user_kernel; /* it may follow other numerics than those asked for */
    bool is_kernel_file; /* it runs in the sandbox, and may remember what it was asked before */

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
    tki_subject_kernel_file, tki_subject_plain, tki_subject_given;

/* What the ids of plain loops begin with: plain.BACKEND.OP.DTYPE. */
#define TKI_PLAIN_ID "plain."

/* The kind of that name; NULL if there is none. */
const tki_subject_kind *tki_subject_kind_named(const char *name);

/* The kind that the options ask for. */
const tki_subject_kind *tki_subject_kind_of(const tk_certify_options *options);

/* The backend asked for, or the one that the lowering's id begins with; NULL if there is none of that name. */
const tki_backend *tki_subject_backend(const tk_certify_options *options);

/* Another process for a kernel file, in place of the present one. Verdicts as of `open`. */
TK_MUST_USE tk_status tki_subject_renew(tki_subject *subject, tki_outcome *o, bool guarded);
