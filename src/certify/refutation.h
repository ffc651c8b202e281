/* RECORDS. How wrong a refuted kernel is: a grade, and the figures behind it. docs/certificate.md says what each grade means. */
#pragma once

#include <stdio.h>

#include "certify/outcome.h"

/* The worst that applies. */
typedef enum tki_grade {
    TKI_SLIGHT,    /* only values are wrong, and each is at most 2 ulp outside */
    TKI_INEXACT,   /* only values are wrong, and more than half of the wrong ones have their first four bits right */
    TKI_GROSS,     /* only values are wrong */
    TKI_STRUCTURAL /* a clause that is not about values is broken */
} tki_grade;

tki_grade tki_grade_of(const tki_outcome *o);

/* The member `result.refutation`: a new reference, NULL when memory ran out. */
json_t *tki_refutation_json(const tki_outcome *o);

/* "4,096" */
void tki_print_count(FILE *out, int64_t count);

/* That member as text: "slight so far: 12 of 4,096 elements (0.29 %) wrong, by at most 1 ulp"; "so far" if not all trials were run. */
void tki_refutation_print(FILE *out, const json_t *refutation);
