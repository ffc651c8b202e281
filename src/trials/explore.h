/* CHOOSES. Coverage decides what is tried. An instrumented build of the kernel makes the same calls as were judged; what it compared with
 * what becomes new shapes, options, thread counts, alignments and elements, and a trial that leads it where it has not been is judged on the
 * real build as all others are. What the instrumented build says is untrusted: it adds trials and is reported, and no verdict rests on
 * it. The same seed and the same reports give the same trials. */
#pragma once

#include "kernel_file/covered_lines.h"
#include "trials/levels.h"

typedef struct tki_exploration {
    bool known;
    char why[512]; /* not known: the reason */
    int64_t blocks, edges;
    int64_t unwatched; /* trials too large to be repeated, or for the memory at hand */
    int64_t calls;     /* made to find out, beyond those of judged trials */
    int64_t found;     /* trials that were judged because of them */
    bool spent;        /* calls or trials ran out before ideas did */
    bool lines_known;
    char no_lines[512]; /* why not */
    tki_lines lines;
} tki_exploration;

void tki_exploration_free(tki_exploration *exploration);

enum { TKI_FOUND_QUICK = 96, TKI_FOUND_MORE = 384 }; /* most trials that are found, at quick and beyond */

/* Judges a trial on the real build; *stop: there is a verdict. */
typedef tk_status (*tki_explore_judge)(void *data, const tki_trial *trial, bool *stop);

/* `trials` have been judged. A kernel whose instrumented build cannot be had, or does not end well, is no failure. */
TK_MUST_USE tk_status tki_explore(tk_ctx *ctx, const tk_contract *contract, const tk_certify_options *options,
                                  const tki_trials *trials, int suspicion, tki_explore_judge judge, void *data,
                                  tki_exploration *exploration);
