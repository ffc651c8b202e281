/* RECORDS. Errors by magnitude, as a certificate has them: result.by_magnitude. */
#pragma once

#include <jansson.h>

#include "judge/judge.h"

/* A new reference. */
json_t *tki_magnitudes_json(const tk_case *c, const tki_magnitude magnitudes[TKI_MAGNITUDES]);

/* The parts of a by_magnitude member of a certificate, which may be anything, added up. */
typedef struct tki_magnitudes_sum {
    int64_t elements;
    double ulps, bound_used; /* the largest */
} tki_magnitudes_sum;

/* False if it is not of the form that tki_magnitudes_json() gives it. */
bool tki_magnitudes_add_up(const json_t *by_magnitude, tki_magnitudes_sum *sum);

/* Of such a member, or of one of its parts: the numbers, with "infinity" understood. False if it has none. */
bool tki_magnitude_read(const json_t *part, tki_magnitude *magnitude);
