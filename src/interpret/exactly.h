/* DECIDES. Exact values by MPFR: of one element at a time, as closely as asked for. */
#pragma once

#include "interpret/program.h"

/* Fills in->values[]: what hosts compute in double. */
TK_MUST_USE tk_status tki_make_constants(tki_interpreter *in);
