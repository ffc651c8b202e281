/* RECORDS. The verdict in one line, with all that it is subject to. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* "rows=3 cols=5": in the contract's order where this build knows the op, for a JSON object has no order of its own. */
void tki_print_shape(FILE *out, const char *op, const json_t *shape);

/* What the verdict is about, where that is not the whole check: "under tensor_core numerics for one case: n=1"; else "". From the
 * predicate of a statement, which may be of an earlier version or edited: what is missing is not said. free() it; NULL when memory
 * ran out. */
char *tki_scope(const json_t *predicate);

/* "HELD", "HELD for one case: n=1", "REFUTED, slight: 12 of 4,096 elements ...": the verdict, its scope, and what else has to be known at first sight. As above. */
char *tki_headline(const json_t *predicate);
