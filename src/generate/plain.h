/* UNTRUSTED. Plain loops: a kernel file made from a definition, slow and right. */
#pragma once

#include <stdio.h>

#include "define/definition.h"

/* Writes C with the interface of tokitai_kernel.h: every value is computed in double, in the order in which it is written, and rounded
 * when it is stored. With `gpu`, "cuda" or "hip": for that, a thread for an element. False, and why, if there is no such kernel. */
bool tki_write_plain_loops(FILE *out, const tki_definition *definition, const char *gpu, const char **why);
