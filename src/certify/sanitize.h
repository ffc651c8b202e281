/* RECORDS. Small trials of a kernel file for CUDA under the tools of compute-sanitizer, which see what no output shows: races in shared
 * memory, reads outside the arrays, reads of what nobody wrote, barriers that not all threads reach. */
#pragma once

#include "isolate/confinement.h"
#include "judge/trial.h"

typedef struct tki_sanitized_tool {
    int64_t calls;     /* that it watched */
    int findings;      /* as it counts them */
    bool complete;     /* it watched all of them to the end */
    char problem[256]; /* why not */
} tki_sanitized_tool;

typedef struct tki_sanitized {
    bool wanted;      /* asked for, or by the level, of a kernel on CUDA */
    bool ran;         /* it came to that: nothing had failed before */
    bool here;        /* compute-sanitizer was found */
    char version[32]; /* what it calls its own; "" if it does not */
    tki_sanitized_tool tools[TKI_SANITIZER_TOOLS];
    tki_confinement confinement; /* of the first worker under it */
    tki_sanitizer_tool tool;     /* that found something; 0: none did */
    tki_sanitizer_report report; /* what it found */
} tki_sanitized;

/* Trials that held. */
typedef struct tki_sanitize_trials {
    const tki_trial **list; /* smallest first */
    int count;
    const tk_certify_options *options; /* with inputs that were given */
} tki_sanitize_trials;

/* Takes at most `most` of the trials (each of another shape, none of them large, spread over the sizes there are) into chosen->list, which
 * has room for as many. The same seed takes the same ones. */
void tki_sanitize_choose(const tki_trial *const all[], int64_t count, uint64_t seed, int most,
                         tki_sanitize_trials *chosen);

/* Runs them under one tool after the other until one finds something; *failed is then the first trial found that shows it alone, NULL if
 * none does. Tools that do not work are no failure. */
TK_MUST_USE tk_status tki_sanitize(tk_ctx *ctx, const tk_kernel_file *kernel, const tk_contract *contract,
                                   const tki_sanitize_trials *trials, tki_sanitized *sanitized,
                                   const tki_trial **failed);

/* The contract's clause that such a finding refutes, and what it means. */
int tki_sanitize_clause(const tk_contract *contract, tki_sanitizer_kind kind);
const char *tki_sanitize_meaning(tki_sanitizer_kind kind);
