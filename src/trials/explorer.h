/* CHOOSES. What the exploration of one kernel knows. explore_observe.c makes calls and notes what they compared,
 * explore_propose.c makes candidates of that, explore.c runs the loop. */
#pragma once

#include "isolate/coverage.h"
#include "judge/trial.h"
#include "kernel_file/source_constants.h"
#include "runtime/kernel_runner.h"
#include "trials/explore.h"

/* Of the trials of the list, and with those of the search, each of whose calls has a place. */
enum { TKI_MOST_LISTED = 320, TKI_MOST_OBSERVATIONS = TKI_MOST_LISTED + 1024 };

/* What is followed of large contracts; the rest stays as it was drawn. */
enum { TKI_MOST_SIZES = 8, TKI_MOST_ATTRIBUTES = 8, TKI_MOST_TENSORS = 16 };

enum { TKI_LAST_CONSTANTS = 4 };

/* What can be set, and may be what a kernel compares. */
typedef enum tki_quantity {
    TKI_SIZE_0,
    TKI_PRODUCT_01 = TKI_SIZE_0 + TKI_MOST_SIZES,
    TKI_PRODUCT_12,
    TKI_PRODUCT_02,
    TKI_PRODUCT_ALL,
    TKI_THREADS,
    TKI_ATTRIBUTE_0,                                     /* integers and choices that kernels see */
    TKI_PLACE_0 = TKI_ATTRIBUTE_0 + TKI_MOST_ATTRIBUTES, /* of an array in its page */
    TKI_PLACE_ALL = TKI_PLACE_0 + TKI_MOST_TENSORS,      /* all of them, or'ed together */
    TKI_QUANTITIES
} tki_quantity;

static inline bool tki_is_seen(const tk_contract *contract, int attribute, tk_attribute_type type)
{
    return contract->attributes[attribute].seen_by_kernel && contract->attributes[attribute].type == type;
}

/* One call of the instrumented build. */
typedef struct tki_observation {
    tki_trial trial;
    bool has[TKI_QUANTITIES];
    int64_t value[TKI_QUANTITIES];
} tki_observation;

typedef struct tki_sample {
    int observation;
    int64_t low[2], high[2];
} tki_sample;

/* What is known of a comparison. */
typedef struct tki_history {
    uint64_t key;
    uint32_t kind, bytes;
    uint32_t outcomes; /* of observed calls alone: of others it is not known what they compared */
    int base;          /* the observation that met it from which new cases are made */
    int count;
    tki_sample *samples;
    unsigned char tries[TKI_OUTCOMES + 1];
    bool planted; /* its constant has been among the elements */
} tki_history;

typedef struct tki_explorer {
    tk_ctx *ctx;
    const tk_contract *contract;
    const tk_certify_options *options;
    const tki_dictionary *dictionary;
    tki_subject subject; /* of the instrumented build */
    tki_runner runner;
    tki_coverage coverage;
    tki_explore_judge judge;
    void *judge_data;
    tki_exploration *result;
    tki_coverage_report *report;
    uint32_t blocks, edges, outcomes; /* at the end of the last call */
    tki_observation *observations;
    int observation_count;
    tki_history *histories; /* by key */
    int history_count;
    int64_t constants[TKI_LAST_CONSTANTS]; /* of comparisons of elements, as bits; the last ones */
    int constant_count;
    int large_left; /* cases beyond most_work that may yet be proposed */
    int pairs_left; /* calls that may yet be made with two of them */
    tki_trial *queue;
    int queue_count, queue_next, queue_room;
    int64_t calls_left;
    double steps_left; /* callbacks that may yet be made for the judged trials */
    double rate;       /* callbacks for each step of work, in the largest call that was looked at */
    double rate_work;
    int most_found;
    double most_work;
    bool stop;   /* there is a verdict */
    bool broken; /* the instrumented build crashed, or the like */
} tki_explorer;

/* About how many steps a plain kernel takes: over all elements, or over all that is multiplied or looked through. */
double tki_explorer_work(const tk_case *c);

/* Of so large a case that was found, a sample is judged, also when a certificate names it. */
static inline bool tki_explorer_samples(const tk_case *c)
{
    return tki_explorer_work(c) > 0x1p21;
}

/* Is there anything to judge? */
bool tki_explorer_has_elements(const tk_case *c);

/* The instrumented build is of no more use. */
void tki_explorer_give_up(tki_explorer *e, const char *what);

/* The calls that the trial makes when it is judged, as far as their size allows. */
TK_MUST_USE tk_status tki_explorer_repeat_judged(tki_explorer *e, const tki_trial *trial, const tki_inputs *inputs,
                                                 bool lines_only);

/* One call with the trial's inputs, and what it compared. *further: it went where no call has been. */
TK_MUST_USE tk_status tki_explorer_observe(tki_explorer *e, const tki_trial *trial, const tki_inputs *inputs,
                                           bool *further);

/* Did the calls since the last question lead anywhere new? */
bool tki_explorer_went_further(tki_explorer *e);

/* Has the case been tried, or is it in the queue? */
bool tki_explorer_knows(const tki_explorer *e, const tki_trial *trial);

/* These put candidates in the queue; false when memory ran out. The case that others are best made from; from the
 * comparisons, in one round over all of them; from the constants of the source as elements, options and threads; and as
 * sizes, in one of TKI_SIZE_VARIANTS ways. */
enum { TKI_SIZE_VARIANTS = 7 };
TK_MUST_USE bool tki_explorer_propose_plain(tki_explorer *e);
TK_MUST_USE bool tki_explorer_propose_all(tki_explorer *e);
TK_MUST_USE bool tki_explorer_propose_values(tki_explorer *e);
TK_MUST_USE bool tki_explorer_propose_sizes(tki_explorer *e, int variant);
