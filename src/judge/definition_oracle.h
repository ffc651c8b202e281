/* DECIDES. The oracle of an op that was made of a definition: what the interpreter finds of each element. */
#pragma once

#include "exact/oracle.h"

extern const tki_oracle tki_definition_oracle;

/* Do the exact values of all elements of the case cost so much that a sample is judged? False of ops that are no definitions. */
bool tki_definition_samples(const tk_case *c);

/* The name of a value of the definition, by its number, and of the tensor whose line it stands in first. False: there is no such value. */
bool tki_definition_names(const tk_contract *contract, int64_t node, const char **value, const char **line);
