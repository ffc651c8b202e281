/* SHOWS. Results of kernel files for other programs: JUnit XML, as continuous integration reads it. */
#pragma once

#include <stdio.h>

#include "tokitai_verify.h"

typedef struct junit_case {
    char *suite; /* the kernel's file */
    char *name;  /* "gelu_fwd.f16" */
    tk_verdict verdict;
    double seconds;
    char *headline; /* of the certificate, or the verdict */
    char *reason;   /* or "" */
    char *detail;   /* the reproducing command, the compiler's output; or "" */
} junit_case;

/* Writes all cases, those of one suite behind each other as they come. REFUTED is a failure, UNKNOWN an error; a headline that
 * says more than the verdict is its output. Bytes that XML does not
 * admit become '?', and long texts are cut. */
void junit_write(FILE *out, const junit_case cases[], int count);
