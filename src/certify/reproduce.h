/* RECORDS. The one-line command that shows a failure again. */
#pragma once

#include <stdio.h>

#include "certify/outcome.h"

/* The smallest failing trial, written out where it is small, else the original one by its seed. `fails_by_default`:
 * with the default seed as well. free() it; NULL when memory ran out. */
char *tki_reproduce_trial(const tki_outcome *o, const tki_trial *original, const tki_trial *shrunk,
                          const tki_inputs *inputs, bool fails_by_default);

/* For what no restriction shows: the whole certification again. free() it; NULL when memory ran out. */
char *tki_reproduce_all(const tki_outcome *o);

/* An option of the command and its word, quoted where a shell needs it. */
void tki_print_option(FILE *out, const char *option, const char *word);
