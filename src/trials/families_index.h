/* CHOOSES. What families.c needs for inputs that are indices. */
#pragma once

#include "core/random.h"
#include "trials/families.h"

/* Fills the index input `param` of the case. Every index is valid, or the ignored one. */
void tki_family_fill_index(tki_family family, const tk_case *c, int param, void *data, tki_random *random);

/* The same where it has ends of groups: ascending, each from 0 to the size that they point into. */
void tki_family_fill_ends(tki_family family, const tk_case *c, int param, void *data, tki_random *random);

/* Makes ends of `count` values that lie in the range: raises each to the one before, or sorts them. */
void tki_ends_raise(tk_dtype dtype, void *data, int64_t count);
void tki_ends_sort(tk_dtype dtype, void *data, int64_t count);

/* Where half of the confident lines have their peak, and the plateaus an element. Targets of those families point there, so that an op that
 * compares the two meets confident lines that are right beside confident lines that are wrong. */
static inline int64_t tki_peak_place(int64_t line, int64_t length)
{
    return (7 * line + 3) % length;
}
