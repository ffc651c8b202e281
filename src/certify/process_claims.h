/* RECORDS. What a certificate says of the process that its kernel ran in and of what ran there. */
#pragma once

#include "tokitai_verify.h"

/* Do these members contradict each other, or the run? `what`: the first that does. */
bool tki_process_contradicts(const tk_certificate *certificate, char *what, size_t size);
