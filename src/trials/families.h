/* CHOOSES. Input families: ways of drawing inputs that find mistakes, all from a printed seed. */
#pragma once

#include "tokitai_verify.h"

typedef enum tki_family {
#define FAMILY(NAME, name, what, kinds, needs_index) TKI_FAMILY_##NAME,
#include "trials/families.def"
#undef FAMILY
    TKI_FAMILY_COUNT
} tki_family;

/* Fills every input of the case. `data` is in contract order; outputs are skipped. The same case, family and seed give
 * the same bits everywhere. */
void tki_family_fill(int family, const tk_case *c, uint64_t seed, void *const data[]);

/* So many consecutive numbers of trials have each structure, three times as many have it in each input. */
enum { TKI_STRUCTURES = 21 };

int tki_family_find(const char *name); /* -1 if there is no such family */

/* A family in which an element that is lost, doubled or in the wrong place shows at any shape; `turn` chooses among the op's. */
int tki_family_main(const tk_contract *contract, int turn);

/* The i-th of the families in which a path that only some sizes take shows what it leaves out or adds up in another order; -1 behind the
 * last. */
int tki_family_telling(const tk_contract *contract, int i);
