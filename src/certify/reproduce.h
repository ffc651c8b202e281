/* RECORDS. The one-line command that shows a failure again: the failing case as data, and the command that follows from it and from `run`. */
#pragma once

#include <stdio.h>

#include "certify/outcome.h"

/* The member `failing_case`: the smallest failing trial, with its inputs where it is small, else the original one by its seed.
 * `fails_by_default`: with the default seed as well. A new reference; NULL when memory ran out. */
json_t *tki_case_json(const tki_outcome *o, const tki_trial *original, const tki_trial *shrunk,
                      const tki_inputs *inputs, bool fails_by_default);

/* The command that follows from the other members: that case, or, where no restriction shows it, the whole certification again; "" if
 * there is none. free() it. NULL: `failing_case` is none of this run. */
char *tki_reproduce(const json_t *predicate, const tk_contract *contract);

/* An option of the command and its word, quoted where a shell needs it. */
void tki_print_option(FILE *out, const char *option, const char *word);
