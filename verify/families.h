/* TRUSTED. Input families: ways of drawing inputs that find mistakes, all from a printed seed. */
#ifndef TKI_VERIFY_FAMILIES_H
#define TKI_VERIFY_FAMILIES_H

#include "tokitai.h"

/* Fills every input of the case. `data` is in contract order; outputs are skipped. The same case, family and seed give
 * the same bits everywhere. */
void tki_family_fill(int family, const tk_case *c, uint64_t seed, void *const data[]);

int tki_family_find(const char *name); /* -1 if there is no such family */

/* Some families only make sense for some ops (index families need an index). */
bool tki_family_applies(int family, const tk_contract *contract);

#endif
