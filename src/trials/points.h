/* CHOOSES. Small cases of a definition with drawn inputs, at which its values and its bound are looked at: what lint and the graph rest on. */
#pragma once

#include "interpret/evaluate.h"
#include "judge/trial_inputs.h"

enum { TKI_MOST_POINTS = 24, TKI_MOST_AT_A_POINT = 96 /* elements, of all inputs and of each output */ };

typedef struct tki_point {
    const tki_definition *d;
    int kind;
    tki_trial trial;
    tki_inputs inputs;
} tki_point;

typedef struct tki_points {
    int count;
    tki_point list[TKI_MOST_POINTS];
} tki_points;

/* Of normal numbers, of some with an offset, and of magnitudes of many orders; in fp32 where the definition leaves the type open. */
TK_MUST_USE tk_status tki_points_make(tk_ctx *ctx, const tk_contract *contract, tki_points *points);
void tki_points_free(tki_points *points);

/* The point with an attribute at another value, or a size of 0, or one input all zeros: those that are not -1. TK_BAD_ARGUMENT: there is no such
 * case, or it is not small. The caller frees its inputs in any case. */
TK_MUST_USE tk_status tki_point_change(tk_ctx *ctx, const tki_point *like, int attribute, tk_value value, int size,
                                       int zeros, tki_point *point);

/* Normal numbers, of which no sane definition makes what is undefined. */
bool tki_point_is_normal(const tki_point *point);

/* Is it an output of real numbers that the case has? Its elements then, else 0. */
int64_t tki_point_elements(const tki_point *point, int tensor);

/* Elements of an output there. TK_BAD_ARGUMENT: the case is not evaluated. */
TK_MUST_USE tk_status tki_point_values(const tki_point *point, const tki_watch *watch, int tensor, int64_t first,
                                       int64_t count, tki_value values[]);

/* What of the bound of one element goes when a node's value, or its operands', are taken to be free of errors: shares of 1. Through a node
 * goes what is its own and what comes from below. */
typedef struct tki_share {
    bool met; /* it is evaluated for the element */
    double through, own;
} tki_share;

TK_MUST_USE tk_status tki_point_shares(const tki_point *point, int tensor, int64_t element, tki_share shares[]);
