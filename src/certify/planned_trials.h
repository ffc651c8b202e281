/* RECORDS. The trials that a certificate lists beside those that this version makes for what it says was run. */
#pragma once

#include "certify/certificate.h"
#include "trials/levels.h"

typedef struct tki_planned {
    bool known;     /* what was run can be told here, and is not of given outputs */
    int64_t made;   /* on every machine, for that level, seed and restriction */
    int64_t listed; /* of these */
    char wrong
        [400]; /* the first listed trial that is not made, is there more often than it is made, or has another number of elements; "" */
} tki_planned;

/* TK_BAD_FILE, with a message: what it says was run is nothing that can be run. */
TK_MUST_USE tk_status tki_planned_trials(tk_ctx *ctx, const tk_certificate *certificate, tki_planned *planned);

/* Where each trial stands in the plan, by its name; the chunks of a finite domain share one, and the first counts. `times`, zeros, receives
 * there how often it is in the plan; or NULL. A new reference; NULL when memory ran out. */
json_t *tki_trial_places(const tki_trials *plan, int times[]);

/* Chunks of one finite domain are one trial of a certificate. */
bool tki_of_one_domain(const tki_trial *a, const tki_trial *b);
