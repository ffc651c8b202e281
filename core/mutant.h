/* A mutant: a wrong kernel that must be refuted. Each op folder's mutants.c lists its own; they run on the CPU
 * and are judged exactly as a user's kernel is. */
#ifndef TKI_CORE_MUTANT_H
#define TKI_CORE_MUTANT_H

#include "tokitai.h"

typedef struct tki_mutant {
    const char *name; /* "tanh_form" */
    const char *what; /* what is wrong with it, one line */
    tk_kernel kernel; /* called with user_data NULL */
} tki_mutant;

#endif
