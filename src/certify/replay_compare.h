/* RECORDS. A certificate beside what came of running its trials again. */
#pragma once

#include "certify/certificate.h"

/* What came of running the trials again. */
typedef struct tki_rerun {
    tk_certificate *certificate; /* of the trials that are listed; NULL if there was nothing to run */
    tk_certificate *beyond;      /* of those that are not; NULL if there are none, or it did not come to that */
    char *failed;                /* the trial beyond the certificate's list that did not hold; NULL */
    bool other_file;             /* the kernel file was named by the reader */
} tki_rerun;

/* A refuted run stops at its failure, and so does its replay. Where they differ, *difference says how, memory
 * permitting. */
bool tki_rerun_same(const tk_ctx *ctx, const tk_certificate *before, const tki_rerun *again, char **difference);

/* A sentence, to be freed; NULL when memory ran out. */
char *tki_difference(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a trial of a certificate ran on, as text: everything but what came out. free() it; NULL when it is no
 * object or memory ran out. */
char *tki_trial_name(const json_t *trial);
