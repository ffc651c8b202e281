/* SHOWS. Which of its choices a lowering should take for a case on the context's GPU, by measuring them: as bench/gpu_timing.h times, in turn, on copies
 * of the tensors that exceed the L2 cache. Those that fall behind are left out early. */
#pragma once

#include "bench/bench.h"

enum { BENCH_CHOICE_NUMBERS = 4, BENCH_MOST_CHOICES = 512 };

typedef struct bench_choice {
    int number[BENCH_CHOICE_NUMBERS];
    double seconds; /* of a call: the median of its samples */
    int samples;
    bool is_wrong; /* its result was not that of the plain lowering */
} bench_choice;

typedef struct bench_tuned {
    tk_case c;
    const char *lowering;
    bench_choice choices
        [BENCH_MOST_CHOICES]; /* in the order in which the lowering's model expects them; its own is the first */
    int count;
    int best; /* of those that are right; -1: none is */
} bench_tuned;

typedef struct bench_tuner bench_tuner;

TK_MUST_USE bench_tuner *bench_tuner_open(tk_ctx *ctx); /* NULL: the context has the reason */
void bench_tuner_close(bench_tuner *tuner);             /* NULL is fine */

/* Whether this lowering has choices for such a case, and takes it on this device. */
bool bench_has_choices(tk_ctx *ctx, const tk_case *c, const char *lowering);

/* Measures the first `most` of the candidates for about so many seconds. The best one's result is compared, bit for bit, with that of the
 * lowering without choices that the device takes, on inputs whose sums are exact in any order; where the op is more than a product,
 * with that of the model's own choice. A wrong one is marked, and the next is the best. The model's own stays the best unless another
 * is faster by more than BENCH_TUNE_GAIN. False when it could not be done; the context has the reason. */
#define BENCH_TUNE_GAIN 0.01
TK_MUST_USE bool bench_tune(bench_tuner *tuner, const tk_case *c, const char *lowering, int most, double seconds,
                            bench_tuned *tuned);

/* Keeps what was found for later contexts. */
TK_MUST_USE bool bench_tune_keep(bench_tuner *tuner, const bench_tuned *tuned);

/* The i-th of the listed shapes: those of bench, and others that training has; false past the end. */
bool bench_tune_shape_at(const tk_contract *contract, int i, int64_t dims[TK_MAX_DIMS]);
