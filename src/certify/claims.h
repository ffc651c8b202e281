/* RECORDS. The sentences of a certificate, `evidence` and `non_claims`. They are made from its other members alone, so that whoever reads it
 * makes the same ones. */
#pragma once

#include <jansson.h>

#include "certify/subject.h"

/* New references; NULL where they cannot be made: of a kind, a backend or a lowering that this build does not have. The predicate may be
 * forged. */
json_t *tki_evidence_json(const json_t *predicate, const tk_contract *contract);
json_t *tki_non_claims_json(const json_t *predicate, const tk_contract *contract);

/* NULL: a lowering of another machine's instruction set may not be in this build. */
const tki_lowering *tki_lowering_of_run(const json_t *run, const tk_contract *contract);

/* Why nothing is known of what ran, of a kind of subject of which that is never known; NULL: of others. */
const char *tki_no_coverage_of_kind(const tki_subject_kind *kind, const tki_backend *backend, bool source_known);
#define TKI_COVERAGE_NOT_REQUESTED "coverage was not requested"
#define TKI_COVERAGE_OF_RESTRICTED "the run was restricted"
#define TKI_COVERAGE_NOT_REACHED "the verdict was reached before coverage was measured"
