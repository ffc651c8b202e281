/* DECIDES. The head of a definition, and what its lines ask of it. */
#pragma once

#include "define/check.h"

void tki_check_head(tki_checker *c, const tki_syntax *definition);

/* A condition's choices; it holds in some case. */
tki_condition tki_check_condition(tki_checker *c, const tki_syntax *first);
tki_combinations tki_combinations_of(const tki_checker *c, const tki_condition *condition);

tki_def_tensor tki_head_tensor(tki_checker *c, const tki_syntax *s);
int tki_add_tensor(tki_checker *c, tki_def_tensor t, const tki_syntax *head);
