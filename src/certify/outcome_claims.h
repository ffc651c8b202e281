/* RECORDS. What a certificate says came out of its run. */
#pragma once

#include "tokitai_verify.h"

/* Do these members contradict each other, or the run? `what`: the first that does. */
bool tki_outcome_contradicts(const tk_certificate *certificate, const tk_contract *contract, char *what, size_t size);
