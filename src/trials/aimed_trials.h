/* CHOOSES. Trials that each aim at one condition. */
#pragma once

#include "trials/trials_together.h"

/* Those of a level, in an order that stays. */
void tki_aimed_give(const tki_together *what, const tk_case *like);
