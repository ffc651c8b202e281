/* CHOOSES. What foreign code is shown of the folders of tools, and of homes. */
#pragma once

#include "isolate/worker_spawn.h"

/* Arguments for the worker program: a tool outside the system's folders reads what it was installed with, PREFIX of PREFIX/bin/cc, or else the
 * folder that it lies in; itself alone where that is a home, holds one, or is a hidden folder such as ~/.local. */
void tki_strings_allow_program(tki_strings *list, const char *program);

/* And: this user's homes, which are not shown where they lie in a folder of the system. */
void tki_strings_hide_homes(tki_strings *list);
