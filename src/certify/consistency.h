/* RECORDS. What a certificate says in several places has to agree. Nothing is run, so that one who forges all of it with care is not found out
 * here, but by a replay. */
#pragma once

#include "certify/certificate.h"

/* True, and `what` says which, if two members contradict each other. */
bool tki_certificate_contradicts(const tk_ctx *ctx, const tk_certificate *certificate, char *what, size_t size);

/* True, and `what` says where, if its contract is not the one that this version has for its op. */
bool tki_certificate_has_other_contract(const tk_ctx *ctx, const tk_certificate *certificate, char *what,
                                        size_t size);

/* Can its sentences be made again here, and so be compared? Not if it is of another version, or of an op, a backend or a lowering that this
 * build does not have. */
bool tki_certificate_has_sentences(const tk_ctx *ctx, const tk_certificate *certificate);

/* Restricted to a shape, a family, options or given inputs. */
bool tki_certificate_is_restricted(const tk_certificate *certificate);

/* A trial of run.trials less what came out of it: what it ran on. A new reference; NULL when memory ran out. */
json_t *tki_trial_without_results(const json_t *trial);
