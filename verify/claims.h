/* TRUSTED. The sentences of a certificate, `evidence` and `non_claims`. */
#ifndef TKI_VERIFY_CLAIMS_H
#define TKI_VERIFY_CLAIMS_H

#include "verify/outcome.h"

/* New references. */
json_t *tki_evidence_json(const tki_outcome *o);
json_t *tki_non_claims_json(const tki_outcome *o);

/* Why nothing is known of what ran, or NULL. */
const char *tki_no_coverage(const tki_outcome *o);

#endif
