/* CHOOSES. Code that looks at code: how long it is, where it lies, what calls leave on the stack. An instrumented build differs there. */
#pragma once

#include "kernel_file/source_tokens.h"

/* Bits 1 << tki_use of the assembler's statements in a text, one string a line, of which the rest is `code`. */
unsigned tki_uses_of_assembler(tki_span assembler, tki_span code);

/* Addresses of labels or functions as numbers. `code` is preprocessed. */
bool tki_looks_at_code(tki_span code);
