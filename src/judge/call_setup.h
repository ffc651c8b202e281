/* DECIDES. How each call of a trial is set up: with how many threads, where its arrays lie, what its outputs hold beforehand. All of it
 * is drawn from the trial's seed, so that a kernel meets what any caller may give it, and the same seed gives the same calls on
 * every machine. */
#pragma once

#include "judge/guard.h"
#include "judge/trial_case.h"
#include "tokitai.h"

/* What an output's bytes are before the call. */
typedef enum tki_fill_kind {
    TKI_FILL_RANDOM,
    TKI_FILL_ZEROS,
    TKI_FILL_ONES,  /* 0xff, NaN in every format */
    TKI_FILL_STALE, /* what an earlier call gave */
    TKI_FILL_INPUT, /* a copy of an input */
    TKI_FILL_KINDS
} tki_fill_kind;

typedef struct tki_fill {
    tki_fill_kind kind;
    uint64_t seed;
    const unsigned char
        *source;         /* TKI_FILL_STALE and TKI_FILL_INPUT: repeated as often as needed; must outlive this */
    size_t source_bytes; /* 0: random bytes instead */
    size_t element;
    const struct tki_fill *unlike; /* every element differs from what this one gives; NULL: none */
} tki_fill;

/* Bytes [begin, begin + bytes) of it. */
void tki_fill_bytes(const tki_fill *fill, size_t begin, size_t bytes, unsigned char *out);

/* True if those bytes are as they were filled. */
bool tki_fill_intact(const tki_fill *fill, size_t begin, size_t bytes, const unsigned char *seen);

typedef struct tki_setup {
    int threads;
    tki_placement placement[TK_MAX_PARAMS];
    tki_fill_kind fill[TK_MAX_PARAMS];
    uint64_t fill_seed[TK_MAX_PARAMS];
} tki_setup;

/* From which the calls of a trial are drawn: of one with given inputs its seed, so that a reproducing command can name it. */
uint64_t tki_trial_calls_seed(const tki_trial *trial);

/* The `number`-th call of a trial. Consecutive numbers differ in the number of threads and in the kind of placement. */
tki_setup tki_setup_draw(const tki_trial *trial, int number);
